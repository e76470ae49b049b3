import type { Identity } from '../oauth/identity.ts';

/** What the cluster said of a token. */
export interface ReviewedToken {
  /** Absent: refused. */
  readonly identity?: Identity;
  /** When it was asked, by the monotonic clock. */
  readonly at: number;
  /** The token's own end, by the wall clock in milliseconds. */
  readonly expiresAt: number;
}

/** A token for each pod of a large cluster; some hundred bytes each. */
const MOST_GOOD = 10_000;
/** Anybody can send refused ones, so they must not push out good ones: they have a place of their own. */
const MOST_REFUSED = 1_000;

/** The last answer for each token, by its digest. When full, the one asked for longest ago goes. Knows nothing of ages. */
export class ReviewedTokens {
  readonly #good = new Map<string, ReviewedToken>();
  readonly #refused = new Map<string, ReviewedToken>();

  get(digest: string): ReviewedToken | undefined {
    return this.#good.get(digest) ?? this.#refused.get(digest);
  }

  set(digest: string, token: ReviewedToken): void {
    this.#good.delete(digest);
    this.#refused.delete(digest);
    if (token.identity) add(this.#good, MOST_GOOD, [digest, token]);
    else add(this.#refused, MOST_REFUSED, [digest, token]);
  }
}

function add(tokens: Map<string, ReviewedToken>, most: number, [digest, token]: [string, ReviewedToken]): void {
  const [oldest = ''] = tokens.size >= most ? tokens.keys() : [];
  tokens.delete(oldest);
  tokens.set(digest, token);
}
