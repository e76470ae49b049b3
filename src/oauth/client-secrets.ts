import type { Logger } from '../observability/logger.ts';
import { Backoff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { LastingFailure } from '../runtime/lasting-failure.ts';
import type { Random } from '../runtime/random.ts';
import type { SecretStore, StoredSecret } from '../secret-store.ts';
import type { Client } from './options.ts';

/** The client secrets that are kept in the cluster, each in a Secret that the first replica creates with a random value. */
export interface ClientSecrets {
  /** The client's current secret; `undefined` for a client without one, or whose Secret is not read yet. */
  secretOf(client: Client): string | undefined;
  /** Why the secret of a client is not known yet; `undefined` once all are known. For the log. */
  fault(): string | undefined;
  /** One background part for each Secret. It creates the Secret if there is none at start, then watches it. */
  readonly parts: readonly { readonly name: string; run(signal: AbortSignal): Promise<void> }[];
}

/** The key in the Secret, also in one that an operator creates. */
const KEY = 'secret';

/** 192 random bits in 32 characters that need no quoting anywhere. */
const SECRET_BYTES = 24;

export interface ClientSecretParts {
  readonly secrets: SecretStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * If a Secret is deleted or emptied while the program runs, its last secret stays in use, so that a mistake does not shut
 * applications out. A deleted Secret is created again at the next start.
 */
export function createClientSecrets(clients: readonly Client[], parts: ClientSecretParts): ClientSecrets {
  const known = new Map<string, string>();
  const kept = [...new Set(clients.flatMap(({ secretName }) => secretName ?? []))];
  const take = (name: string, secret: StoredSecret | undefined): void => {
    const text = (secret?.data[KEY]?.toString() ?? '').trimEnd();
    if (text !== '') known.set(name, text);
    else parts.logger.error({ secret: name }, 'the Secret holds no client secret: the last one stays in use');
  };
  return {
    secretOf: ({ secret, secretName }) => (secretName === undefined ? secret : known.get(secretName)),
    fault: () => {
      const missing = kept.find((name) => !known.has(name));
      return missing === undefined ? undefined : `the Secret ${missing} is not read yet, or holds no client secret`;
    },
    parts: kept.map((name) => ({
      name: `client secret ${name}`,
      run: async (signal) => {
        await createOnce(name, parts, signal);
        if (!signal.aborted) await parts.secrets.watch(name, (secret) => take(name, secret), signal);
      },
    })),
  };
}

/** Tries until the Secret exists, created by this process or by another one. */
async function createOnce(
  name: string,
  { secrets, clock, random, logger }: ClientSecretParts,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff(clock, random);
  const failure = new LastingFailure(clock, logger);
  while (!signal.aborted) {
    try {
      if (await secrets.read(name)) return;
      const secret = Buffer.from(random.bytes(SECRET_BYTES).toString('base64url'));
      if ((await secrets.create(name, { [KEY]: secret })) === 'exists') return;
      logger.info({ secret: name }, 'made the secret of an OAuth client: it is in the Secret, under the key secret');
      return;
    } catch (error) {
      failure.failed({ err: error, secret: name }, 'cannot make the secret of an OAuth client yet');
      await clock.sleep(backoff.failed(), signal);
    }
  }
}
