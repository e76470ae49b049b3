import type { Counter, Registry } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { SecurityEventFields, SecurityEvents } from '../../security-events.ts';
import { createReviewCounter } from '../metrics.ts';
import type { TokenData } from '../token-data.ts';
import { Act, type Origin } from '../tokens/act.ts';
import type { TokenFault } from '../tokens/identity.ts';
import { LONGEST_TOKEN } from '../tokens/token-check.ts';
import type { AccessToken, AccessTokens } from '../tokens/token-verifier.ts';
import type { UserStandings } from '../tokens/user-standing.ts';
import {
  type Caller,
  type CallerAuthenticationOptions,
  type CallerProof,
  createCallerAuthentication,
} from './caller-authentication.ts';
import { callerAuthenticationFailed, toOAuthError } from './refusals.ts';
import { createRefusedTokens, type RefusedTokens } from './refused-tokens.ts';
import { checkReviewType, parseReview, type ReviewRequest } from './review-request.ts';

/** What a POST to /oauth/authenticate is checked by before its body is read. */
export interface ReviewHead extends CallerProof, Origin {
  readonly contentType: string | undefined;
}

/** How the caller was let in by `checkHead`. */
interface ReviewOrigin extends Origin {
  readonly askedBy: Caller;
}

/** `status` of a TokenReview; members in wire order. */
type ReviewStatus =
  | { readonly authenticated: false }
  | {
      readonly authenticated: true;
      readonly user: { readonly username: string; readonly uid: string; readonly groups: readonly string[] };
      /** The requested audiences that the token has; absent when none were requested. */
      readonly audiences?: readonly string[];
    };

interface ReviewAnswer {
  /** The same as in the request. */
  readonly apiVersion: string;
  readonly kind: 'TokenReview';
  readonly status: ReviewStatus;
}

/**
 * The webhook by which an API server asks whose token it has. Both methods throw an `OAuthError` when there is no
 * answer: the caller may not ask, the body is no review, or data of ours is missing. A bad token is an answer, not an
 * error, because the API server takes errors for an outage, and caches answers.
 */
export interface TokenReviewWebhook {
  checkHead(head: ReviewHead): Caller;
  review(body: Buffer, origin: ReviewOrigin): ReviewAnswer;
}

export interface TokenReviewWebhookParts {
  /** While not every user is known, an unknown user must not be taken for one who is gone. */
  readonly data: Pick<TokenData, 'check'>;
  readonly verifier: Pick<AccessTokens, 'inspect'>;
  readonly standing: UserStandings;
  /** The bearer that callers must show; `undefined` when there is none. */
  callerToken(): string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly events: SecurityEvents;
  /** Refused callers, by reason. */
  readonly clientFailures: Counter<'reason'>;
}

/** N-58 to N-61. Answers from memory. It never asks the cluster, because the cluster is the caller. */
export function createTokenReviewWebhook(
  options: CallerAuthenticationOptions,
  parts: TokenReviewWebhookParts,
): TokenReviewWebhook {
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
  /** The caller is checked first: nothing that a stranger sent is looked at. */
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
  /** Whose token it is, if it is a good one: for the audit trail. */
  readonly whose?: SecurityEventFields;
}

const NO = { authenticated: false } as const;

function createJudge(parts: TokenReviewWebhookParts): (request: ReviewRequest) => Judgement {
  const refused = createRefusedTokens(parts.clock, parts.random);
  return ({ token: text, audiences }) => {
    parts.data.check();
    const token = inspect(text, parts, refused);
    return 'fault' in token ? { result: token.fault, status: NO } : accept(token, audiences, parts.standing);
  };
}

type Inspected = ReturnType<AccessTokens['inspect']>;

/**
 * Refuses a text that is too long before making a digest of it. Remembers only results that cost cryptography.
 * Whether the session and the user are still good is read from memory each time, since it may change.
 */
function inspect(text: string, { verifier }: TokenReviewWebhookParts, refused: RefusedTokens): Inspected {
  if (text.length > LONGEST_TOKEN) return { fault: 'invalid' };
  const known = refused.get(text);
  if (known) return { fault: known };
  const token = verifier.inspect(text);
  if ('fault' in token && token.fault !== 'revoked') refused.add(text, token.fault);
  return token;
}

function accept(token: AccessToken, asked: readonly string[] | undefined, standing: UserStandings): Judgement {
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
