import { constants, hkdfSync, type KeyObject, sign } from 'node:crypto';
import type { SecurityEvents } from '../../security-events.ts';
import type { KeySet, PublicJwk, StoredKey } from './signing-key-data.ts';

/** Signs tokens. RS256 is deterministic (RFC 8017 8.2), so the same input gives the same signature. */
export interface SigningKey {
  readonly kid: string;
  /** The signature in base64url. It takes about 1 ms and is synchronous: in the thread pool it would queue behind password hashes. */
  sign(signingInput: string): string;
  /** The length of the signature in base64url. */
  readonly signatureLength: number;
  /** 32 bytes that follow from the private key for this purpose alone (HKDF, RFC 5869), the same on every replica. */
  derivedKey(purpose: string): Uint8Array;
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

/** The keys in use after this set was read: those of the set, and those that it should still list. */
export function loadKeys(keySet: KeySet, before: LoadedKeys | undefined): LoadedKeys {
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

const DERIVED_KEY_BYTES = 32;

/** A key for one purpose from a secret (HKDF, RFC 5869). */
export const derivedKey = (secret: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', `gatehouse ${purpose}`, DERIVED_KEY_BYTES));

function toSigningKey(kid: string, privateKey: KeyObject): SigningKey {
  const bytes = (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8;
  const key = { key: privateKey, padding: constants.RSA_PKCS1_PADDING };
  return {
    kid,
    sign: (signingInput) => sign('sha256', Buffer.from(signingInput), key).toString('base64url'),
    signatureLength: Math.ceil((bytes * 4) / 3),
    derivedKey: (purpose) => derivedKey(privateKey.export({ format: 'der', type: 'pkcs8' }), purpose),
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
