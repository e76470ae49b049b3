import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose';
import type { Random } from '../../runtime/random.ts';
import type { SecretStore, StoredSecret } from '../../secret-store.ts';

/**
 * `next` is published but signs nothing yet, `active` signs, `verify-only` has signed, `revoked` is refused everywhere.
 * Exactly one key is active.
 */
const STATES = ['next', 'active', 'verify-only', 'revoked'] as const;

export type KeyState = (typeof STATES)[number];

/** A public key as a JWK (RFC 7517 4, RFC 7518 6.3.1); it never has a private member. */
export interface PublicJwk {
  readonly kty: 'RSA';
  readonly use: 'sig';
  readonly alg: 'RS256';
  readonly kid: string;
  readonly n: string;
  readonly e: string;
}

export interface StoredKey {
  readonly kid: string;
  readonly state: KeyState;
  /** When it entered its state, in milliseconds. */
  readonly sinceMs: number;
  readonly publicKey: KeyObject;
  readonly publicJwk: PublicJwk;
  /** May be absent once the key is verify-only or revoked. */
  readonly privateKey?: KeyObject;
}

export interface KeySet {
  readonly keys: readonly StoredKey[];
  readonly active: StoredKey & { readonly privateKey: KeyObject };
  /** The key of HMAC digests that must be equal on all replicas, such as that of a password hash. */
  readonly digestKey: Buffer;
}

/** The keys of the Secret's data: a JSON document with the signing keys, and 32 random bytes. */
const KEYS = 'keys.json';
const DIGEST_KEY = 'digest-key';
const DIGEST_KEY_BYTES = 32;

interface KeyEntry {
  readonly state: KeyState;
  /** RFC 3339. */
  readonly since: string;
  readonly jwk: JWK;
}

type Data = Readonly<Record<string, Buffer>>;

const newPair = promisify(generateKeyPair);

/** Takes about a tenth of a second, in the thread pool. */
export async function newKey(state: KeyState, nowMs: number): Promise<StoredKey> {
  const { publicKey, privateKey } = await newPair('rsa', { modulusLength: MODULUS_BITS });
  return { ...(await identified(publicKey)), state, sinceMs: nowMs, privateKey };
}

/** The data of a new Secret, with one active key. */
export async function newKeyData(nowMs: number, random: Random): Promise<Data> {
  const keys = [await newKey('active', nowMs)];
  return { ...(await withKeys({}, keys)), [DIGEST_KEY]: random.bytes(DIGEST_KEY_BYTES) };
}

/** The data with these keys; everything else in the Secret is unchanged. */
export async function withKeys(data: Data, keys: readonly StoredKey[]): Promise<Data> {
  const entries = await Promise.all(keys.map(toEntry));
  return { ...data, [KEYS]: Buffer.from(JSON.stringify({ keys: entries })) };
}

async function toEntry({ state, sinceMs, privateKey, publicKey }: StoredKey): Promise<KeyEntry> {
  return { state, since: new Date(sinceMs).toISOString(), jwk: await exportJWK(privateKey ?? publicKey) };
}

/** Reads the keys of a Secret, or says why they cannot be used, without quoting any of them. */
export async function readKeyData(data: Data): Promise<KeySet | { readonly fault: string }> {
  const digestKey = data[DIGEST_KEY];
  if (!digestKey || digestKey.length < DIGEST_KEY_BYTES) return { fault: `${DIGEST_KEY} is missing or too short` };
  try {
    const { keys: entries } = JSON.parse(data[KEYS]?.toString() ?? '') as { keys: readonly KeyEntry[] };
    const keys = await Promise.all(entries.map(readKey));
    const active = keys.filter((key) => key.state === 'active');
    const [only] = active;
    if (!only?.privateKey || active.length > 1)
      return { fault: 'there is not exactly one active key with its private part' };
    if (new Set(keys.map((key) => key.kid)).size < keys.length) return { fault: 'a key is listed twice' };
    return { keys, active: { ...only, privateKey: only.privateKey }, digestKey };
  } catch {
    // The parser's message is not passed on, because it may quote private keys.
    return { fault: `${KEYS} is missing or not a list of sound RSA keys of ${MODULUS_BITS} bits or more` };
  }
}

async function readKey({ state, since, jwk }: KeyEntry): Promise<StoredKey> {
  const publicKey = createPublicKey({ key: { ...publicPart(jwk) }, format: 'jwk' });
  const sinceMs = Date.parse(since);
  const isOurs = isKeyState(state) && !Number.isNaN(sinceMs) && isFitForRs256(jwk, publicKey);
  if (!isOurs) throw new Error('not one of our keys');
  const stored = { ...(await identified(publicKey)), state, sinceMs };
  return jwk.d === undefined ? stored : { ...stored, privateKey: createPrivateKey({ key: jwk, format: 'jwk' }) };
}

/** Names the key by its thumbprint (RFC 7638). */
async function identified(publicKey: KeyObject): Promise<Pick<StoredKey, 'kid' | 'publicKey' | 'publicJwk'>> {
  const { n = '', e = '' } = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint({ kty: 'RSA', n, e });
  return { kid, publicKey, publicJwk: { kty: 'RSA', use: 'sig', alg: 'RS256', kid, n, e } };
}

const publicPart = ({ kty, n, e }: JWK): JWK => ({
  ...(kty === 'RSA' && n !== undefined && e !== undefined ? { kty, n, e } : {}),
});

const isKeyState = (word: string): word is KeyState => (STATES as readonly string[]).includes(word);

/** The keys as they are stored after `changeKeys`, or why they cannot be changed. */
export type KeyOutcome =
  | { readonly keys: readonly StoredKey[]; readonly isChanged: boolean }
  | { readonly fault: string };

/**
 * Returns the keys to store instead of these, or `undefined` to leave them as they are. It is called again with newer keys when
 * another change was stored first.
 */
export type KeyDecision = (
  keys: readonly StoredKey[],
) => readonly StoredKey[] | undefined | Promise<readonly StoredKey[] | undefined>;

/** Each conflict means that another change was stored. Such changes are rare, so there are never this many at once. */
const ATTEMPTS = 10;

/**
 * Reads the keys, calls `decide`, and stores the result by compare-and-swap. A Secret that does not exist or cannot be used is
 * not changed (C-39). Rejects when the cluster cannot be reached or refuses; the same change may then be tried again.
 */
export async function changeKeys(secrets: SecretStore, name: string, decide: KeyDecision): Promise<KeyOutcome> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const secret = await secrets.read(name);
    if (!secret) return { fault: `there is no Secret ${name}` };
    const stored = await readKeyData(secret.data);
    if ('fault' in stored) return { fault: `the Secret ${name} cannot be used: ${stored.fault}` };
    const keys = await decide(stored.keys);
    if (!keys) return { keys: stored.keys, isChanged: false };
    const made = await store(secrets, name, { ...secret, data: await withKeys(secret.data, keys) });
    if (made !== 'conflict') return { keys, isChanged: true };
  }
  throw new Error(`the Secret ${name} was changed by others ${ATTEMPTS} times in a row`);
}

/** Writes the Secret. When the answer to a write is lost, the write may have happened, and must then not be repeated (C-36). */
async function store(secrets: SecretStore, name: string, { data, version }: StoredSecret): Promise<unknown> {
  try {
    return await secrets.update(name, data, version);
  } catch (error) {
    const found = await secrets.read(name).catch(() => undefined);
    const stands = found && Object.entries(data).every(([key, bytes]) => found.data[key]?.equals(bytes));
    if (!stands) throw error;
    return found;
  }
}

/** The accepted lengths of the modulus (RFC 7518 3.3, RFC 8725 3.5). A verification costs about the same up to some thousand bits. */
const MODULUS_BITS = 2048;
const LONGEST_MODULUS_BITS = 8192;

/** The least public exponent (NIST SP 800-56B 6.2). With the exponent 1 every text would be its own signature. */
const LEAST_EXPONENT = 65537n;

/**
 * Whether a key may verify RS256: it is strong enough, does not have the weakness of CVE-2017-15361, and its `use`, `alg` and
 * `key_ops`, if it has them, allow this use (RFC 7517 4.2 to 4.4).
 */
export function isFitForRs256(jwk: JWK, key: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  const isStrong =
    modulusLength >= MODULUS_BITS && modulusLength <= LONGEST_MODULUS_BITS && publicExponent >= LEAST_EXPONENT;
  const { use = 'sig', alg = 'RS256', key_ops: operations = ['verify'] } = jwk;
  const isMeant = use === 'sig' && alg === 'RS256' && operations.some((name) => name === 'verify' || name === 'sign');
  return isStrong && isMeant && !hasRocaModulus(key);
}

/** For keys of 2048 to 3968 bits, the weak library used the product of the primes up to this one as its modulus. */
const LAST_PRIME = 701;

/**
 * Whether the key was made by the weak library of CVE-2017-15361 (ROCA): modulo each of those primes, both factors are powers
 * of 65537, and so is their product. A random modulus is practically never such a power modulo all of them. It fails at one of
 * the first primes, so the others are rarely computed.
 */
function hasRocaModulus(key: KeyObject): boolean {
  const { n = '' } = key.export({ format: 'jwk' });
  const modulus = BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`);
  for (let prime = 3; prime <= LAST_PRIME; prime += 2) {
    if (isPrime(prime) && !powersOf65537(prime).has(Number(modulus % BigInt(prime)))) return false;
  }
  return true;
}

function isPrime(odd: number): boolean {
  for (let divisor = 3; divisor * divisor <= odd; divisor += 2) if (odd % divisor === 0) return false;
  return true;
}

function powersOf65537(prime: number): ReadonlySet<number> {
  const powers = new Set<number>();
  for (let power = 1; !powers.has(power); power = (power * 65537) % prime) powers.add(power);
  return powers;
}
