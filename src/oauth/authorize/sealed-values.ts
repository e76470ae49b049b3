import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { derived } from '../../runtime/derived.ts';
import { systemRandom } from '../../runtime/random.ts';
import { serviceUnavailable } from '../../status-error.ts';
import { derivedKey } from '../keys/loaded-keys.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { fromJwsPart, toJwsPart } from '../tokens/compact-jws.ts';

/** A key of AES-256-GCM, with the name by which it is found again. */
interface SealingKey {
  readonly kid: string;
  readonly key: Uint8Array;
}

/**
 * Carries a value through the browser, where nobody can read or change it: a JWE (RFC 7516) with an end. Any replica opens it, and
 * nothing is stored (B-20). Both ways take some microseconds and are synchronous: in the thread pool, where WebCrypto works, they
 * would have less priority than the event loop, and could queue behind password hashes.
 */
export interface SealedValues<Value> {
  /** Throws a 503 while there is no key. */
  seal(value: Value, lifeSeconds: number): string;
  /** `undefined` for any text that is not one of these values, or has ended. */
  open(text: string): Value | undefined;
}

export interface SealedValuesParts {
  /** The key with this name, or the one that seals now. */
  key(kid?: string): SealingKey | undefined;
  readonly clock: Clock;
}

/** A longer text is refused without any cryptography. The longest request has a state of 2 KiB and an address of that order. */
const LONGEST_SEALED = 16 * 1024;

/** `typ` keeps values of one purpose from being taken for those of another. */
export function createSealedValues<Value extends object>(
  typ: string,
  { key, clock }: SealedValuesParts,
): SealedValues<Value> {
  // Direct encryption: the key is derived for this purpose alone, so it is the content encryption key (RFC 7518 4.5).
  const headerFor = (kid: string): string => toJwsPart({ alg: 'dir', enc: 'A256GCM', typ, kid });
  return {
    seal: (value, lifeSeconds) => {
      const sealing = key();
      if (!sealing) throw serviceUnavailable('nobody can sign in now', 1, new Error('there is no key to seal with'));
      const exp = Math.floor(clock.now() / 1000) + lifeSeconds;
      return encrypt(headerFor(sealing.kid), JSON.stringify({ value, exp }), sealing.key);
    },
    open: (text) => {
      const sealed = text.length > LONGEST_SEALED ? undefined : parseSealed(text);
      const sealing = sealed && key(kidOf(sealed.header));
      // Nobody else has the key, so a header that differs from ours in anything is not ours.
      if (!sealing || sealed.header !== headerFor(sealing.kid)) return undefined;
      const claims = decrypt(sealed, sealing.key) as { readonly value?: Value; readonly exp?: number } | undefined;
      return claims?.exp !== undefined && clock.now() < claims.exp * 1000 ? claims.value : undefined;
    },
  };
}

/**
 * Sealed values under a key of their own purpose that all replicas keep through every rotation of signing keys, so that no rotation
 * interrupts a sign-in or signs a browser out.
 */
export function createLastingValues<Value extends object>(
  purpose: string,
  keys: Pick<SigningKeys, 'digestKey'>,
  clock: Clock,
): SealedValues<Value> {
  const keyOf = derived((secret: Buffer) => derivedKey(secret, purpose));
  return createSealedValues(`${purpose.replaceAll(' ', '-')}+jwe`, {
    clock,
    key: () => {
      const secret = keys.digestKey();
      return secret && { kid: 'digest-key', key: keyOf(secret) };
    },
  });
}

/** The parts of a compact JWE (RFC 7516 7.1) whose second one, the encrypted key, is empty. */
interface Sealed {
  /** The text that was sent. It is authenticated, but not encrypted. */
  readonly header: string;
  readonly iv: Buffer;
  readonly ciphertext: Buffer;
  readonly tag: Buffer;
}

/** A256GCM (RFC 7518 5.3): the initialization vector has 96 bits, the tag 128, which are 16 and 22 characters. */
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG = { authTagLength: 16 };
const FIVE_PARTS = /^([\w-]+)\.\.([\w-]{16})\.([\w-]+)\.([\w-]{22})$/;

function parseSealed(text: string): Sealed | undefined {
  const [, header, ...parts] = FIVE_PARTS.exec(text) ?? [];
  const [iv, ciphertext, tag] = parts.map(fromJwsPart);
  return header && iv && ciphertext && tag ? { header, iv, ciphertext, tag } : undefined;
}

/** The name of the key in a header; an empty one, which no key has, if the header is not ours. */
function kidOf(header: string): string {
  try {
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid?: unknown };
    return typeof kid === 'string' ? kid : '';
  } catch {
    return '';
  }
}

function encrypt(header: string, plaintext: string, key: Uint8Array): string {
  // It must not occur twice under a key (RFC 7518 5.3), so its randomness is not passed in.
  const iv = systemRandom.bytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, TAG).setAAD(Buffer.from(header));
  const ciphertext = `${cipher.update(plaintext, 'utf8', 'base64url')}${cipher.final('base64url')}`;
  return `${header}..${iv.toString('base64url')}.${ciphertext}.${cipher.getAuthTag().toString('base64url')}`;
}

/** The claims; `undefined` if the tag is not that of this key, header and text. */
function decrypt({ header, iv, ciphertext, tag }: Sealed, key: Uint8Array): unknown {
  const decipher = createDecipheriv(CIPHER, key, iv, TAG).setAAD(Buffer.from(header)).setAuthTag(tag);
  const plaintext = decipher.update(ciphertext, undefined, 'utf8');
  try {
    decipher.final();
  } catch {
    return undefined;
  }
  return JSON.parse(plaintext);
}
