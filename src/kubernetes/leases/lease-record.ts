import { asObject } from '../../runtime/text/json-value.ts';
import type { KubernetesObject } from '../object.ts';

/** How long others wait before they take the lease from a holder that no longer renews it: client-go's `LeaseDuration`. */
const LEASE_MS = 15_000;
/** The longest duration that we accept from another holder. A longer one is a mistake that would lock the lease for ever. */
const LONGEST_LEASE_SECONDS = 600;

/** What a Lease object says about who holds it. */
export interface LeaseRecord {
  /** The holder's identity; `''` when nobody holds the lease. */
  readonly holder: string;
  /** How long others wait after the last change before they take it. */
  readonly durationMs: number;
  /** A text that is another one after each renewal, whatever the renewal changed. */
  readonly mark: string;
}

export function toLeaseRecord(object: KubernetesObject): LeaseRecord {
  const spec = asObject(object['spec']);
  const { holderIdentity, leaseDurationSeconds: seconds } = spec;
  const isUsable = typeof seconds === 'number' && seconds > 0 && seconds <= LONGEST_LEASE_SECONDS;
  return {
    holder: typeof holderIdentity === 'string' ? holderIdentity : '',
    durationMs: isUsable ? seconds * 1000 : LEASE_MS,
    mark: JSON.stringify([object.metadata.uid, spec]),
  };
}

/** The spec to write so that `identity` holds the lease from now on. A renewal keeps the time of acquisition. */
export function heldBy(identity: string, before: KubernetesObject | undefined, nowMs: number): object {
  const spec = asObject(before?.['spec']);
  const now = microTime(nowMs);
  const isRenewal = spec['holderIdentity'] === identity;
  const transitions = typeof spec['leaseTransitions'] === 'number' ? spec['leaseTransitions'] : 0;
  return {
    ...spec,
    holderIdentity: identity,
    leaseDurationSeconds: LEASE_MS / 1000,
    acquireTime: isRenewal && spec['acquireTime'] ? spec['acquireTime'] : now,
    renewTime: now,
    leaseTransitions: before && !isRenewal ? transitions + 1 : transitions,
  };
}

/** The spec to write so that others may take the lease at once. */
export const released = (before: KubernetesObject, nowMs: number): object => ({
  ...asObject(before['spec']),
  holderIdentity: '',
  leaseDurationSeconds: 1, // the API server accepts no 0
  renewTime: microTime(nowMs),
});

/** `metav1.MicroTime`, which must have six digits after the point. Only people read these times; nobody compares them. */
const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
