import type { Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import type { Random } from '../random.ts';
import { type CallerAuthentication, type CallerProof, createCallerAuthentication } from './caller-authentication.ts';
import type { TokenFault } from './identity.ts';
import { createReviewCounter } from './metrics.ts';
import { notAvailable, toOAuthError } from './refusals.ts';
import { createRefusedTokens, type RefusedTokens } from './refused-tokens.ts';
import { checkReviewType, parseReview, type ReviewRequest } from './review-request.ts';
import type { SessionStore } from './sessions.ts';
import type { SigningKeys } from './signing-keys.ts';
import { LONGEST_TOKEN } from './token-check.ts';
import type { AccessToken, AccessTokens } from './token-verifier.ts';
import { createStandings, type Standings } from './user-standing.ts';

/** What is judged of a POST to /oauth/authenticate before its body is read. */
export interface ReviewHead extends CallerProof {
  readonly contentType: string | undefined;
}

/** `status` of a TokenReview; members in wire order. */
type ReviewStatus =
  | { readonly authenticated: false }
  | {
      readonly authenticated: true;
      readonly user: { readonly username: string; readonly uid: string; readonly groups: readonly string[] };
      /** Those that were asked for and that the token has; absent when none were asked for. */
      readonly audiences?: readonly string[];
    };

interface ReviewAnswer {
  /** As it was asked. */
  readonly apiVersion: string;
  readonly kind: 'TokenReview';
  readonly status: ReviewStatus;
}

/**
 * The webhook by which an API server asks whose a token is. Both methods throw an `OAuthError` for what is no answer: a
 * caller who may not ask, a body that asks nothing, data of ours that is missing. A bad token is no error but an answer,
 * because the API server takes errors for an outage, and keeps answers.
 */
export interface TokenReviews {
  checkHead(head: ReviewHead): void;
  review(body: Buffer): ReviewAnswer;
}

export interface TokenReviewOptions {
  readonly platform: string;
  readonly callerAuth: 'required' | 'none';
}

export interface TokenReviewParts {
  readonly verifier: Pick<AccessTokens, 'inspect'>;
  readonly keys: SigningKeys;
  readonly sessions: Pick<SessionStore, 'fault'>;
  /** Why not every user is known; `undefined` once all are: one whom nobody has told us of is no user who is gone. */
  usersFault(): string | undefined;
  /** The bearer that callers show; `undefined` when there is none. */
  callerToken(): string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
}

/** N-58 to N-61. Answers from memory; the cluster, which is who asks, is never asked. */
export function createTokenReviews(options: TokenReviewOptions, parts: TokenReviewParts): TokenReviews {
  const results = createReviewCounter(parts.registry);
  const authenticate = createCallerAuthentication(options, parts);
  const judge = createJudge(parts);
  const counting = <T>(run: () => T): T => {
    try {
      return run();
    } catch (error) {
      const refusal = toOAuthError(error);
      results.inc({ result: refusal.refusal.code });
      throw refusal;
    }
  };
  const review: TokenReviews['review'] = (body) => {
    const request = parseReview(body);
    const { result, status } = judge(request);
    results.inc({ result });
    return { apiVersion: request.apiVersion, kind: 'TokenReview', status };
  };
  return {
    checkHead: (head) => counting(() => checkHead(head, authenticate)),
    review: (body) => counting(() => review(body)),
  };
}

/** Strangers first: what they sent is nobody's business. */
function checkHead(head: ReviewHead, authenticate: CallerAuthentication): void {
  authenticate(head);
  checkReviewType(head.contentType);
}

interface Judgement {
  /** For the metric. */
  readonly result: 'authenticated' | 'other_audience' | TokenFault;
  readonly status: ReviewStatus;
}

const NO = { authenticated: false } as const;

function createJudge(parts: TokenReviewParts): (request: ReviewRequest) => Judgement {
  const standing = createStandings(parts.keys);
  const refused = createRefusedTokens(parts.clock, parts.random);
  return ({ token: text, audiences }) => {
    const missing = parts.keys.ready() ?? parts.sessions.fault() ?? parts.usersFault();
    if (missing !== undefined) throw notAvailable(new Error(missing));
    const token = inspect(text, parts, refused);
    return 'fault' in token ? { result: token.fault, status: NO } : accept(token, audiences, standing);
  };
}

type Inspected = ReturnType<AccessTokens['inspect']>;

/**
 * What is too long is refused before a digest is made of it. Keeps what costs cryptography to find out; who is signed
 * in is read from memory anyway, and may change.
 */
function inspect(text: string, { verifier }: TokenReviewParts, refused: RefusedTokens): Inspected {
  if (text.length > LONGEST_TOKEN) return { fault: 'invalid' };
  const known = refused.get(text);
  if (known) return { fault: known };
  const token = verifier.inspect(text);
  if ('fault' in token && token.fault !== 'revoked') refused.add(text, token.fault);
  return token;
}

function accept(token: AccessToken, asked: readonly string[] | undefined, standing: Standings): Judgement {
  const { claims, user } = token;
  const audiences = asked && [...new Set(asked)].filter((audience) => claims.aud.includes(audience));
  if (audiences?.length === 0) return { result: 'other_audience', status: NO };
  const { groups } = standing(user);
  return {
    result: 'authenticated',
    status: {
      authenticated: true,
      user: { username: user.name, uid: user.uid, groups },
      ...(audiences ? { audiences } : {}),
    },
  };
}
