import type { KeyObject } from 'node:crypto';
import type { Registry } from 'prom-client';
import { type AgingCopy, isProven } from '../../data-age.ts';
import { registerKeyMetrics } from '../metrics.ts';
import { type FollowedKeyParts, FollowedKeys } from './followed-keys.ts';
import type { RotationRules } from './key-plan.ts';
import type { SigningKey } from './loaded-keys.ts';
import type { PublicJwk, StoredKey } from './signing-key-data.ts';

export interface SigningKeys {
  /** Loads the keys, or creates them when there are none, then watches the Secret. Only a bug makes it throw. */
  run(signal: AbortSignal): Promise<void>;
  /** Why there are no usable keys yet; `undefined` once there are. For the log and the readiness check. */
  fault(): string | undefined;
  /** When the keys were last proved current. While they are too old, one may have been revoked unseen (C-38). */
  readonly copies: readonly AgingCopy[];
  /** The active key, or another one that still has its private part. */
  signingKey(kid?: string): SigningKey | undefined;
  /** The public key, unless it is unknown or revoked. */
  verificationKey(kid: string): KeyObject | undefined;
  /** The keys in the states next, active and verify-only. Each change makes a new list. */
  publicKeys(): readonly PublicJwk[];
  /** The keys in the Secret, as this replica last saw it; `undefined` while it is gone, broken or not yet read. */
  stored(): readonly StoredKey[] | undefined;
  /** The key of HMAC digests that are equal on every replica and after a restart; `undefined` until the keys are loaded. */
  digestKey(): Buffer | undefined;
}

export interface SigningKeyParts extends FollowedKeyParts {
  readonly registry: Registry;
}

export interface SigningKeyOptions {
  readonly secretName: string;
  /** How long the Secret counts as current without proof. After that no tokens are accepted, because their key may have been revoked. */
  readonly maxStalenessMs: number;
  readonly rotation: RotationRules;
}

/**
 * The keys of one Secret. The first replica creates it; the others read it. A Secret that cannot be parsed is never replaced:
 * before the first load we are not ready, and afterwards the last valid keys stay in use (C-39).
 */
export function createSigningKeys(options: SigningKeyOptions, parts: SigningKeyParts): SigningKeys {
  const { secretName, maxStalenessMs, rotation } = options;
  const keys = new FollowedKeys(secretName, parts);
  const followed = parts.secrets.proofOf(secretName);
  registerKeyMetrics(parts.registry, parts.clock, { keys: () => keys.current?.keys ?? [], rotation });
  const data = 'signing keys';
  return {
    run: (signal) => keys.run(signal),
    fault: () => {
      if (!keys.current) return keys.reason;
      // Keys that we have just created count only after their watch has shown them once.
      return isProven(followed) ? undefined : 'the signing keys are not followed yet';
    },
    copies: [
      { data, proof: keys.loaded, maxAgeMs: Number.POSITIVE_INFINITY },
      { data, proof: followed, maxAgeMs: maxStalenessMs },
    ],
    signingKey: (kid) => keys.current?.signing.get(kid ?? keys.current.active),
    verificationKey: (kid) => keys.current?.verification.get(kid),
    publicKeys: () => keys.current?.published ?? [],
    stored: () => keys.stored,
    digestKey: () => keys.current?.digestKey,
  };
}
