import type { Counter, Registry } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { SecurityEventFields, SecurityEvents } from '../../security-events.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { createReviewCounter } from '../metrics.ts';
import { missingData, type UserData } from '../missing-data.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import { Act, type Origin } from '../tokens/act.ts';
import type { TokenFault } from '../tokens/identity.ts';
import { LONGEST_TOKEN } from '../tokens/token-check.ts';
import type { AccessToken, AccessTokens } from '../tokens/token-verifier.ts';
import { createStandings, type Standings } from '../tokens/user-standing.ts';
import {
  type Caller,
  type CallerAuthenticationOptions,
  type CallerProof,
  createCallerAuthentication,
} from './caller-authentication.ts';
import { callerAuthenticationFailed, toOAuthError } from './refusals.ts';
import { createRefusedTokens, type RefusedTokens } from './refused-tokens.ts';
import { checkReviewType, parseReview, type ReviewRequest } from './review-request.ts';

/** What is judged of a POST to /oauth/authenticate before its body is read. */
export interface ReviewHead extends CallerProof, Origin {
  readonly contentType: string | undefined;
}

/** Who asks, once `checkHead` has let the caller in. */
interface ReviewOrigin extends Origin {
  readonly askedBy: Caller;
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
  checkHead(head: ReviewHead): Caller;
  review(body: Buffer, origin: ReviewOrigin): ReviewAnswer;
}

/** Somebody whom nobody has told us of yet is no user who is gone. */
export interface TokenReviewParts extends UserData {
  readonly verifier: Pick<AccessTokens, 'inspect'>;
  readonly keys: SigningKeys;
  readonly sessions: Pick<SessionStore, 'fault' | 'tooOld'>;
  /** The bearer that callers show; `undefined` when there is none. */
  callerToken(): string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly events: SecurityEvents;
  /** Refused callers, by reason. */
  readonly clientFailures: Counter<'reason'>;
}

/** N-58 to N-61. Answers from memory; the cluster, which is who asks, is never asked. */
export function createTokenReviews(options: CallerAuthenticationOptions, parts: TokenReviewParts): TokenReviews {
  const results = createReviewCounter(parts.registry);
  const authenticate = createCallerAuthentication(options, parts);
  const judge = createJudge(parts);
  const judging = <T>(act: Act, run: () => T): T => {
    try {
      return run();
    } catch (error) {
      const refusal = toOAuthError(error);
      results.inc({ result: refusal.refusal.code });
      act.refused(refusal.refusal);
      throw refusal;
    } finally {
      act.end();
    }
  };
  /** Strangers first: what they sent is nobody's business. */
  const checkHead = (head: ReviewHead, act: Act): Caller => {
    const judged = authenticate(head);
    if ('fault' in judged) {
      act.refusesClient(judged.fault);
      parts.clientFailures.inc({ reason: judged.fault });
      throw callerAuthenticationFailed(options.platform);
    }
    checkReviewType(head.contentType);
    return judged.caller;
  };
  const review = (body: Buffer, { askedBy }: ReviewOrigin, act: Act): ReviewAnswer => {
    act.is('token_review');
    act.says({ askedBy });
    const request = parseReview(body);
    const { result, status, whose } = judge(request);
    results.inc({ result });
    act.came(result);
    if (whose) act.says(whose);
    return { apiVersion: request.apiVersion, kind: 'TokenReview', status };
  };
  const newAct = (origin: Origin): Act => new Act(parts.events, origin, 'authenticate');
  return {
    checkHead: (head) => {
      const act = newAct(head);
      return judging(act, () => checkHead(head, act));
    },
    review: (body, origin) => {
      const act = newAct(origin);
      return judging(act, () => review(body, origin, act));
    },
  };
}

interface Judgement {
  /** For the metric. */
  readonly result: 'authenticated' | 'other_audience' | TokenFault;
  readonly status: ReviewStatus;
  /** Whose token it is, when it is a good one: for the audit trail. */
  readonly whose?: SecurityEventFields;
}

const NO = { authenticated: false } as const;

function createJudge(parts: TokenReviewParts): (request: ReviewRequest) => Judgement {
  const standing = createStandings(parts.keys);
  const refused = createRefusedTokens(parts.clock, parts.random);
  return ({ token: text, audiences }) => {
    const missing = missingData(parts);
    if (missing) throw missing;
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
  const whose = { user: user.name, clientId: claims.client_id, sid: claims.sid };
  if (audiences?.length === 0) return { result: 'other_audience', status: NO, whose };
  const { groups } = standing(user);
  return {
    result: 'authenticated',
    whose,
    status: {
      authenticated: true,
      user: { username: user.name, uid: user.uid, groups },
      ...(audiences ? { audiences } : {}),
    },
  };
}
