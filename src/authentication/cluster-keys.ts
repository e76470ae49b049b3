import { constants, createPublicKey, type VerifyKeyObjectInput, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { Registry } from 'prom-client';
import { isFitForRs256 } from '../oauth/keys/signing-key-data.ts';
import type { CompactJws } from '../oauth/tokens/compact-jws.ts';
import type { Logger } from '../observability/logger.ts';
import { type Clock, Waiting } from '../runtime/clock.ts';
import { LastingFailure } from '../runtime/lasting-failure.ts';
import { FairSeats } from '../runtime/limits/fair-seats.ts';
import { registerClusterKeys } from './metrics.ts';
import type { SignatureVerdict } from './service-account-tokens.ts';

export interface ClusterKeyParts {
  /** The JWK set that the cluster publishes, parsed from JSON. Rejects when it cannot be read. */
  read(signal: AbortSignal): Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/** Long enough, because the cluster seldom replaces its keys, and publishes a key before it signs with it. */
const EVERY_MS = 60_000;
const RETRY_MS = 10_000;
/**
 * A token that names an unknown key makes us read the keys again, but not more often than this, because anybody can send
 * such tokens. So a token signed just after the publication of its key may be refused for this time.
 */
const FRESH_MS = 5_000;
/**
 * How many tokens with an unknown key may wait until the keys are read, which takes 3 s at most. This is an eighth of the
 * requests in flight.
 */
const MOST_WAITING = 64;

/**
 * The public keys of the cluster's service account tokens, as the cluster publishes them
 * (https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery).
 * If they cannot be read, the last good keys stay in use, however old: they only keep junk away, because the cluster itself
 * decides about each token.
 */
export class ClusterKeys {
  readonly #parts: ClusterKeyParts;
  readonly #waiting = new Set<() => void>();
  readonly #slow = new SlowSignatures();
  #published: PublishedKeys | undefined;
  /** The last document that was read. */
  #text = '';
  /** When the last attempt to read the keys began, and the last successful one, by the monotonic clock. */
  #triedAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #isFailing = false;
  readonly #failure: LastingFailure;
  readonly #pause: Waiting;

  constructor(parts: ClusterKeyParts) {
    this.#parts = parts;
    this.#failure = new LastingFailure(parts.clock, parts.logger);
    this.#pause = new Waiting(parts.clock);
    registerClusterKeys(parts.registry, () => this.#published?.keys.size ?? 0);
  }

  /**
   * Checks the signature of a token that came from `source`. Answers at once for a known, quick key, in turn for a slow
   * one, and for an unknown one after it has read the keys again. Never asks the cluster about the token itself.
   */
  check(jws: CompactJws, source: string): SignatureVerdict | Promise<SignatureVerdict> {
    if (!this.#published) return 'unproven';
    const verdict = this.#judge(jws, source);
    if (verdict !== undefined) return verdict;
    const wasTriedLately = this.#parts.clock.monotonic() - this.#triedAt < FRESH_MS;
    if (!this.#isReading && wasTriedLately) return this.#unknown();
    if (this.#waiting.size >= MOST_WAITING) return 'overloaded';
    return this.#nextReading().then(() => this.#judge(jws, source) ?? this.#unknown());
  }

  /** Reads the keys at once and then at intervals, and sooner when a token needs it. Only a bug makes it throw. */
  run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await this.#read(signal);
      if (this.#waiting.size === 0) await this.#pause.sleep(this.#isFailing ? RETRY_MS : EVERY_MS, signal);
    }
    this.#resolveWaiting();
  };

  /** Returns `undefined` when none of our keys has the name. */
  #judge(jws: CompactJws, source: string): SignatureVerdict | Promise<SignatureVerdict> | undefined {
    const isSigned = this.#published && isSignedByOne(this.#published, jws);
    if (isSigned === undefined) return undefined;
    if (typeof isSigned === 'function') return this.#slow.check(source, isSigned);
    return isSigned ? 'good' : 'bad';
  }

  /** The verdict for an unknown key. `bad` if the last read succeeded: then the cluster has no such key. */
  #unknown = (): SignatureVerdict => (this.#readAt === this.#triedAt ? 'bad' : 'unavailable');

  #nextReading(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      this.#pause.end();
    });
  }

  #resolveWaiting(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { read, clock } = this.#parts;
    const began = clock.monotonic();
    this.#triedAt = began;
    this.#isReading = true;
    try {
      this.#take(await read(signal));
      this.#readAt = began;
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
    } finally {
      this.#isReading = false;
      this.#resolveWaiting();
    }
  }

  #take(document: unknown): void {
    const { logger } = this.#parts;
    const published = parsePublishedKeys(document);
    if (!published) throw new Error('the cluster published no key that service account tokens can be checked with');
    this.#failure.over({}, 'the service account keys of the cluster are read again');
    this.#isFailing = false;
    const text = JSON.stringify(document);
    if (text === this.#text) return;
    this.#text = text;
    this.#published = published;
    logger.info({ kids: [...published.keys.keys()] }, 'the service account keys of the cluster are in use');
    if (published.unfit.length > 0)
      logger.warn(
        { kids: published.unfit },
        'service account keys of the cluster cannot be used: their tokens are refused',
      );
  }

  #failed(error: unknown): void {
    this.#failure.failed({ err: error }, this.#published ? LAST_ONES_STAY : NONE_YET);
    this.#isFailing = true;
  }
}

const LAST_ONES_STAY = 'the service account keys of the cluster cannot be read: the last ones stay in use';
const NONE_YET =
  'the service account keys of the cluster cannot be read: it is asked about every token that looks like one of its own';

/** The thread pool has four threads: two for password comparisons, one for files and DNS, and one for these. */
const AT_ONCE = 1;
/** At 2.5 ms each, the last one has its turn within 160 ms; later while the cores are busy. */
const MOST_SLOW_WAITING = 64;

/**
 * Verifies signatures that take milliseconds in the thread pool, so that tokens which anybody can send do not hold up the
 * event loop. Sources take turns; when the queue is full, the source with the most waiters loses its last one.
 */
export class SlowSignatures {
  readonly #seats = new FairSeats({ count: AT_ONCE, waiting: MOST_SLOW_WAITING });

  /** `isSigned` does the work in the thread pool. Rejects only when it does. */
  async check(source: string, isSigned: () => Promise<boolean>): Promise<SignatureVerdict> {
    // A caller that has left does not give up its seat: the seat is free again within milliseconds.
    const outcome = await this.#seats.take(source, new AbortController().signal);
    if (outcome !== 'taken') return 'overloaded';
    try {
      return (await isSigned()) ? 'good' : 'bad';
    } finally {
      this.#seats.release(source);
    }
  }
}

/** A public key of the cluster. It verifies one algorithm only; the header of a token cannot choose another (RFC 8725 3.1). */
interface PublishedKey {
  readonly alg: string;
  readonly hash: string;
  readonly input: VerifyKeyObjectInput;
  /** Whether one verification takes longer than all the rest of a request. */
  readonly isSlow: boolean;
}

export interface PublishedKeys {
  /** The keys by their `kid`; at least one. */
  readonly keys: ReadonlyMap<string, PublishedKey>;
  /** The names of entries that cannot be used. */
  readonly unfit: readonly string[];
}

type Jwk = Parameters<typeof isFitForRs256>[0];

/** RFC 7518 3.4: one algorithm for each curve. */
const CURVES: Readonly<Record<string, Pick<PublishedKey, 'alg' | 'hash' | 'isSlow'>>> = {
  'P-256': { alg: 'ES256', hash: 'sha256', isSlow: false },
  'P-384': { alg: 'ES384', hash: 'sha384', isSlow: true },
  'P-521': { alg: 'ES512', hash: 'sha512', isSlow: true },
};
/** The longest quick RSA key. The time grows with the square of the bits: 4096 take 0.1 ms, like P-256. P-384 takes 1 ms. */
const MOST_QUICK_BITS = 4096;

/**
 * The keys of a JWK set (RFC 7517 5) that can verify service account tokens: RSA for RS256 and the curves above, which
 * is all that kube-apiserver signs with. `undefined` if the document is not a JWK set or has no such key.
 */
export function parsePublishedKeys(document: unknown): PublishedKeys | undefined {
  const { keys: entries } = (document ?? {}) as { keys?: unknown };
  if (!Array.isArray(entries)) return undefined;
  const keys = new Map<string, PublishedKey>();
  const unfit: string[] = [];
  for (const entry of entries as unknown[]) {
    const { kid } = (entry ?? {}) as { kid?: unknown };
    const key = typeof kid === 'string' ? toPublishedKey(entry as Jwk) : undefined;
    const known = keys.get(String(kid));
    // If two keys have the same name, a token does not say which one it means. A key that is listed twice is fine.
    if (!key || (known && !known.input.key.equals(key.input.key))) unfit.push(String(kid).slice(0, 100));
    else keys.set(kid as string, key);
  }
  return keys.size > 0 ? { keys, unfit } : undefined;
}

const verifyInPool = promisify(verify);

/**
 * Whether a token was signed with the key that its header names; `undefined` when no key has that name. For a slow key
 * it returns a function that checks in the thread pool.
 */
export function isSignedByOne(
  { keys }: PublishedKeys,
  { header, signingInput, signature }: CompactJws,
): boolean | (() => Promise<boolean>) | undefined {
  const { kid, alg } = header;
  if (typeof kid !== 'string') return false;
  const key = keys.get(kid);
  if (!key) return undefined;
  if (key.alg !== alg) return false;
  const { hash, input, isSlow } = key;
  if (isSlow) return () => verifyInPool(hash, Buffer.from(signingInput), input, signature);
  return verify(hash, Buffer.from(signingInput), input, signature);
}

function toPublishedKey(jwk: Jwk): PublishedKey | undefined {
  try {
    return jwk.kty === 'RSA' ? toRsaKey(jwk) : jwk.kty === 'EC' ? toCurveKey(jwk) : undefined;
  } catch {
    return undefined; // the members are not a key, or have other types
  }
}

function toRsaKey(jwk: Jwk): PublishedKey | undefined {
  const { n, e } = jwk as { n: string; e: string };
  const key = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' });
  if (!isFitForRs256(jwk, key)) return undefined;
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  const input = { key, padding: constants.RSA_PKCS1_PADDING };
  return { alg: 'RS256', hash: 'sha256', input, isSlow: modulusLength > MOST_QUICK_BITS };
}

function toCurveKey(jwk: Jwk): PublishedKey | undefined {
  const { crv, x, y, use = 'sig' } = jwk as { crv: string; x: string; y: string; use?: string };
  const curve = CURVES[crv];
  if (!curve || use !== 'sig' || (jwk.alg ?? curve.alg) !== curve.alg) return undefined;
  const key = createPublicKey({ key: { kty: 'EC', crv, x, y }, format: 'jwk' });
  // RFC 7518 3.4: the signature is two numbers of the curve's length, one after the other.
  return { ...curve, input: { key, dsaEncoding: 'ieee-p1363' } };
}
