import { constants, type KeyObject, sign } from 'node:crypto';
import type { Registry } from 'prom-client';
import { type AgingCopy, isProven, neverProven } from '../../data-age.ts';
import type { Logger } from '../../observability/logger.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { Random } from '../../runtime/random.ts';
import type { SecretStore, StoredSecret } from '../../secret-store.ts';
import type { SecurityEvents } from '../../security-events.ts';
import { registerKeyMetrics } from '../metrics.ts';
import type { RotationRules } from './key-plan.ts';
import { type KeySet, newKeyData, type PublicJwk, readKeyData, type StoredKey } from './signing-key-data.ts';

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
  /**
   * The key of digests that are the same on every replica and after a restart; `undefined` until the keys are loaded.
   */
  digestKey(): Buffer | undefined;
}

export interface SigningKeyParts {
  readonly secrets: SecretStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly events: SecurityEvents;
}

export interface SigningKeyOptions {
  readonly secretName: string;
  /**
   * The longest time without proof that the Secret is current. After it no tokens are accepted, because their key may have
   * been revoked.
   */
  readonly maxStalenessMs: number;
  readonly rotation: RotationRules;
}

/**
 * The keys of one Secret. The first replica creates it; the others read it. A Secret that cannot be parsed is never replaced:
 * before the first load we are not ready, and afterwards the last valid keys stay in use (C-39).
 */
export function createSigningKeys(options: SigningKeyOptions, parts: SigningKeyParts): SigningKeys {
  const { events } = parts;
  const secret = options.secretName;
  const log = parts.logger.child({ secret });
  let reason = 'the signing keys are not loaded yet';
  let current: LoadedKeys | undefined;
  const followed = parts.secrets.proofOf(secret);
  const loaded = neverProven();
  let stored: readonly StoredKey[] | undefined;
  registerKeyMetrics(parts.registry, parts.clock, { keys: () => current?.keys ?? [], rotation: options.rotation });

  const load = async ({ data }: StoredSecret): Promise<void> => {
    const keySet = await readKeyData(data);
    if ('fault' in keySet) {
      stored = undefined;
      reason = `the signing keys cannot be used: ${keySet.fault}`;
      events.report('signing_keys_unusable', { secret, fault: keySet.fault, lastGoodInUse: current !== undefined });
      return;
    }
    const next = loadKeys(keySet, current);
    if (current) reportKeyChanges(current, next, events);
    current = next;
    loaded.at = parts.clock.monotonic();
    stored = keySet.keys;
  };

  const create = async (signal: AbortSignal): Promise<void> => {
    const data = await newKeyData(parts.clock.now(), parts.random);
    const backoff = new Backoff(parts.clock, parts.random);
    const failure = new LastingFailure(parts.clock, log);
    while (!signal.aborted) {
      try {
        // `exists`: another replica has made the keys, and the watch will deliver them.
        const made = await parts.secrets.create(options.secretName, data);
        if (made === 'exists') return;
        await load(made);
        events.report('signing_key_created', { secret, kid: current?.active });
        return;
      } catch (error) {
        failure.failed({ err: error }, 'cannot create the signing keys yet');
        await parts.clock.sleep(backoff.failed(), signal);
      }
    }
  };

  const follow = async (found: StoredSecret | undefined, signal: AbortSignal): Promise<void> => {
    if (found) return load(found);
    stored = undefined;
    if (!current) return create(signal);
    events.report('signing_keys_missing', { secret, kids: current.keys.map(({ kid }) => kid) });
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    // Changes are loaded one after the other, in their order: loading is asynchronous, and the latest state must win.
    let turn = Promise.resolve();
    const broken = Promise.withResolvers<never>();
    const onChange = (found: StoredSecret | undefined): void => {
      turn = turn.then(() => follow(found, signal)).catch(broken.reject);
    };
    await Promise.race([parts.secrets.watch(options.secretName, onChange, signal), broken.promise]);
    await turn;
  };

  const fault = (): string | undefined => {
    if (!current) return reason;
    // Keys that we have just created count only after their watch has shown them once.
    return isProven(followed) ? undefined : 'the signing keys are not followed yet';
  };
  const data = 'signing keys';
  return {
    run,
    fault,
    copies: [
      { data, proof: loaded, maxAgeMs: Number.POSITIVE_INFINITY },
      { data, proof: followed, maxAgeMs: options.maxStalenessMs },
    ],
    signingKey: (kid) => current?.signing.get(kid ?? current.active),
    verificationKey: (kid) => current?.verification.get(kid),
    publicKeys: () => current?.published ?? [],
    stored: () => stored,
    digestKey: () => current?.digestKey,
  };
}

/** Signs tokens. RS256 is deterministic (RFC 8017 8.2), so the same input gives the same signature. */
export interface SigningKey {
  readonly kid: string;
  /** The signature in base64url. It takes about 1 ms and is synchronous: in the thread pool it would queue behind password hashes. */
  sign(signingInput: string): string;
  /** The length of the signature in base64url. */
  readonly signatureLength: number;
}

/** The keys in use. The object never changes: a change of the Secret makes a new one. */
export interface LoadedKeys {
  readonly keys: readonly StoredKey[];
  /** Keys that are in `keys` although the Secret no longer lists them. */
  readonly kept: readonly StoredKey[];
  /** The `kid` of the active key. */
  readonly active: string;
  readonly signing: ReadonlyMap<string, SigningKey>;
  readonly verification: ReadonlyMap<string, KeyObject>;
  readonly published: readonly PublicJwk[];
  readonly digestKey: Buffer;
}

function loadKeys(keySet: KeySet, before: LoadedKeys | undefined): LoadedKeys {
  const kept = unexpectedlyGone(keySet, before);
  const keys = [...keySet.keys, ...kept];
  const good = keys.filter((key) => key.state !== 'revoked');
  return {
    keys,
    kept,
    active: keySet.active.kid,
    signing: new Map(good.flatMap((key) => (key.privateKey ? [[key.kid, toSigningKey(key.kid, key.privateKey)]] : []))),
    verification: new Map(good.map((key) => [key.kid, key.publicKey])),
    published: good.map((key) => key.publicJwk),
    digestKey: keySet.digestKey,
  };
}

/**
 * The keys that were active or next and are missing in the Secret without having been retired. Their tokens are still in use,
 * so these keys go on verifying until the process ends (C-39). To have a key refused, an operator must mark it `revoked`.
 */
function unexpectedlyGone(now: KeySet, before: LoadedKeys | undefined): readonly StoredKey[] {
  if (!before) return [];
  const listed = new Set(now.keys.map((key) => key.kid));
  const inUse = before.keys.filter((key) => key.state === 'active' || key.state === 'next');
  return [...before.kept, ...inUse]
    .filter((key) => !listed.has(key.kid))
    .map(({ privateKey: _, ...key }) => ({ ...key, state: 'verify-only' }));
}

function toSigningKey(kid: string, privateKey: KeyObject): SigningKey {
  const bytes = (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8;
  const key = { key: privateKey, padding: constants.RSA_PKCS1_PADDING };
  return {
    kid,
    sign: (signingInput) => sign('sha256', Buffer.from(signingInput), key).toString('base64url'),
    signatureLength: Math.ceil((bytes * 4) / 3),
  };
}

/** Reports the changes of the keys in the audit trail. Each replica reports a change when it has loaded it. */
export function reportKeyChanges(before: LoadedKeys, now: LoadedKeys, events: SecurityEvents): void {
  const stateBefore = new Map(before.keys.map(({ kid, state }) => [kid, state]));
  const listed = new Set(now.keys.map(({ kid }) => kid));
  for (const { kid, state } of now.keys) {
    if (state === stateBefore.get(kid)) continue;
    if (state === 'next') events.report('signing_key_published', { kid });
    if (state === 'active') events.report('signing_key_activated', { kid, instead: before.active });
    if (state === 'revoked') events.report('signing_key_revoked', { kid });
  }
  for (const { kid, state } of before.keys)
    if (state === 'verify-only' && !listed.has(kid)) events.report('signing_key_retired', { kid });
  if (now.kept.some((key) => !before.kept.some(({ kid }) => kid === key.kid)))
    events.report('signing_keys_missing', { kids: now.kept.map(({ kid }) => kid) });
}
