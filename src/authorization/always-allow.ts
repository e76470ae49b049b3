import type { Registry } from 'prom-client';
import type { Authorizer, Decision } from './authorizer.ts';
import { decisionCounter } from './metrics.ts';

const ALLOWED: Decision = { allowed: true, source: 'always_allow' };

/** Mode AlwaysAllow: any signed-in user may do anything. For demonstrations; the program warns of it at start. */
export function createAlwaysAllow(registry: Registry): Authorizer {
  const count = decisionCounter(registry);
  return {
    authorize() {
      count(ALLOWED);
      return ALLOWED;
    },
  };
}
