import type { Config } from '../config/config.ts';
import { connectCluster } from '../kubernetes/cluster.ts';
import { KeyOperator } from '../oauth/keys/key-operator.ts';
import { createLogger } from '../observability/logger.ts';
import { createUnreadRegistry } from '../observability/metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { toSigningKeyOptions } from '../service/token-options.ts';
import type { KeysRequest } from './arguments.ts';

export interface KeysCommandParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  /** The environment variables that name a cluster. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  print(line: string): void;
}

/**
 * Lists, rotates or revokes the signing keys in the cluster that the configuration names, even while Gatehouse is
 * serving there. Throws a `ClusterAccessError` when there is no cluster, and what `KeyOperator` throws.
 */
export async function runKeysCommand(request: KeysRequest, config: Config, parts: KeysCommandParts): Promise<void> {
  const access = { ...config.kubernetes, environment: parts.environment, version: parts.version };
  // The thrown error already says what failed.
  const logger = createLogger({ level: 'silent', format: 'json' });
  const registry = createUnreadRegistry();
  const { clock, random, print } = parts;
  const { secrets, close } = await connectCluster(access, { clock, random, logger, registry });
  const operator = new KeyOperator(toSigningKeyOptions(config), { secrets, clock, print });
  try {
    if (request.action === 'list') await operator.list();
    else if (request.action === 'revoke') await operator.revoke(request.kid);
    else await (request.isNow ? operator.rotateNow() : operator.rotate());
  } finally {
    await close();
  }
}
