import type { Registry } from 'prom-client';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { Random } from '../../runtime/random.ts';
import type { SecretStore } from '../../secret-store.ts';
import { createRotationFailures } from '../metrics.ts';
import { LONGEST_CHECK_MS, planRotation, rotated } from './key-plan.ts';
import { changeKeys, newKey } from './signing-key-data.ts';
import type { SigningKeyOptions, SigningKeys } from './signing-keys.ts';

export interface KeyRotatorParts {
  readonly keys: Pick<SigningKeys, 'stored'>;
  readonly secrets: SecretStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** The share of the wait that is random, so that replicas that started together do not always check at the same time. */
const JITTER = 0.4;

/**
 * Rotates the signing keys on schedule. Every replica runs a rotator: compare-and-swap decides which of them makes a change,
 * and the others see that it is done. `run` checks about once a minute, in memory. It sends requests to the cluster only when
 * a change is due, and not while the Secret is gone or broken (C-39). A failed change is tried again at the next check.
 */
export function createKeyRotator(
  { secretName, rotation }: SigningKeyOptions,
  parts: KeyRotatorParts,
): { run(signal: AbortSignal): Promise<void> } {
  const { keys, secrets, clock, random } = parts;
  const failures = createRotationFailures(parts.registry);
  const failure = new LastingFailure(clock, parts.logger.child({ secret: secretName }));

  const check = async (): Promise<void> => {
    const stored = keys.stored();
    if (!stored) return;
    if (!planRotation(stored, clock.now(), rotation)) return failure.over({}, 'the signing keys are on schedule again');
    try {
      const means = { nowMs: clock.now(), newKey };
      const outcome = await changeKeys(secrets, secretName, (current) => rotated(current, rotation, means));
      if ('fault' in outcome) throw new Error(outcome.fault);
    } catch (error) {
      failures.inc();
      failure.failed({ err: error }, 'cannot change the signing keys yet');
    }
  };
  return {
    run: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(LONGEST_CHECK_MS * (1 - JITTER * random.fraction()), signal);
        if (!signal.aborted) await check();
      }
    },
  };
}
