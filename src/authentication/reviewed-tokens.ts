import type { Identity } from '../oauth/tokens/identity.ts';
import { BoundedMap } from '../runtime/bounded-map.ts';

/** The cluster's answer about a token. */
export interface ReviewedToken {
  /** Absent when the token was refused. */
  readonly identity?: Identity;
  /** When the cluster was asked, by the monotonic clock. */
  readonly at: number;
  /** When the token itself expires, by the wall clock in milliseconds. */
  readonly expiresAt: number;
}

/** One token for each pod of a large cluster; some hundred bytes each. */
const MOST_GOOD = 10_000;
/** Refused tokens have a limit of their own, so that they cannot push out good ones. */
const MOST_REFUSED = 1_000;

/**
 * Remembers the cluster's last answer about each token, by the token's digest. When the good tokens are too many, it drops
 * the oldest one of the service account that has the most. When the refused tokens are too many, it drops the oldest one.
 * It does not know how long an answer is good.
 */
export class ReviewedTokens {
  readonly #good = new TokensByOwner(MOST_GOOD);
  readonly #refused = new BoundedMap<ReviewedToken>(MOST_REFUSED);

  get(digest: string): ReviewedToken | undefined {
    return this.#good.get(digest) ?? this.#refused.get(digest);
  }

  set(digest: string, token: ReviewedToken): void {
    this.#good.delete(digest);
    this.#refused.delete(digest);
    if (token.identity) this.#good.add(digest, token, token.identity.name);
    else this.#refused.set(digest, token);
  }
}

/**
 * A fixed number of tokens, shared fairly by their owners. When it is full, the owner with the most loses its oldest. So a
 * service account that requests thousands of tokens pushes out only its own. In a `BoundedMap` it would push out the
 * tokens of others.
 */
class TokensByOwner {
  readonly #most: number;
  readonly #tokens = new Map<string, ReviewedToken>();
  /** The digests of each owner, the oldest first. */
  readonly #digestsOf = new Map<string, Set<string>>();

  constructor(most: number) {
    this.#most = most;
  }

  get(digest: string): ReviewedToken | undefined {
    return this.#tokens.get(digest);
  }

  add(digest: string, token: ReviewedToken, owner: string): void {
    if (this.#tokens.size >= this.#most) this.#giveUpOne();
    const digests = this.#digestsOf.get(owner) ?? new Set();
    // Moves the owner to the end. So among owners with equally many tokens, the one whose last token is oldest loses one.
    this.#digestsOf.delete(owner);
    this.#digestsOf.set(owner, digests.add(digest));
    this.#tokens.set(digest, token);
  }

  delete(digest: string): void {
    const owner = this.#tokens.get(digest)?.identity?.name ?? '';
    const digests = this.#digestsOf.get(owner);
    this.#tokens.delete(digest);
    digests?.delete(digest);
    if (digests?.size === 0) this.#digestsOf.delete(owner);
  }

  /** Takes about 50 µs with 10,000 owners, much less than the review that brought the new token. */
  #giveUpOne(): void {
    let largest: ReadonlySet<string> = new Set();
    for (const digests of this.#digestsOf.values()) if (digests.size > largest.size) largest = digests;
    const [oldest] = largest;
    if (oldest !== undefined) this.delete(oldest);
  }
}
