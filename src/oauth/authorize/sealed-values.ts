import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { Clock } from '../../runtime/clock.ts';
import { derived } from '../../runtime/derived.ts';
import { serviceUnavailable } from '../../status-error.ts';
import { derivedKey } from '../keys/loaded-keys.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';

/** A key of AES-256-GCM, with the name by which it is found again. */
interface SealingKey {
  readonly kid: string;
  readonly key: Uint8Array;
}

/**
 * Carries a value through the browser, where nobody can read or change it: a JWE (RFC 7516) with an end. Any replica opens it, and
 * nothing is stored (B-20).
 */
export interface SealedValues<Value> {
  /** Throws a 503 while there is no key. */
  seal(value: Value, lifeSeconds: number): Promise<string>;
  /** `undefined` for any text that is not one of these values, or has ended. */
  open(text: string): Promise<Value | undefined>;
}

export interface SealedValuesParts {
  /** The key with this name, or the one that seals now. */
  key(kid?: string): SealingKey | undefined;
  readonly clock: Clock;
}

/** Direct encryption: the key is derived for this purpose alone, so it is the content encryption key (RFC 7518 4.5). */
const ALGORITHM = { alg: 'dir', enc: 'A256GCM' } as const;

/** A longer text is refused without any cryptography. The longest request has a state of 2 KiB and an address of that order. */
const LONGEST_SEALED = 16 * 1024;

/** `typ` keeps values of one purpose from being taken for those of another. */
export function createSealedValues<Value extends object>(
  typ: string,
  { key, clock }: SealedValuesParts,
): SealedValues<Value> {
  return {
    seal: (value, lifeSeconds) => {
      const sealing = key();
      if (!sealing) throw serviceUnavailable('nobody can sign in now', 1, new Error('there is no key to seal with'));
      const endsAt = Math.floor(clock.now() / 1000) + lifeSeconds;
      return new EncryptJWT({ value })
        .setProtectedHeader({ ...ALGORITHM, typ, kid: sealing.kid })
        .setExpirationTime(endsAt)
        .encrypt(sealing.key);
    },
    open: async (text) => {
      if (text.length > LONGEST_SEALED) return undefined;
      const opened = await jwtDecrypt<{ value: Value }>(text, ({ kid = '' }) => keyOf(key(kid)), {
        typ,
        contentEncryptionAlgorithms: [ALGORITHM.enc],
        keyManagementAlgorithms: [ALGORITHM.alg],
        requiredClaims: ['exp', 'value'],
        currentDate: new Date(clock.now()),
      }).catch((error: unknown) => {
        if (error instanceof errors.JOSEError || error instanceof UnknownKey) return undefined;
        throw error;
      });
      return opened?.payload.value;
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

class UnknownKey extends Error {}

function keyOf(sealing: SealingKey | undefined): Uint8Array {
  if (!sealing) throw new UnknownKey();
  return sealing.key;
}
