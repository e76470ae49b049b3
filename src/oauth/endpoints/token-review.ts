import type { Counter, Registry } from 'prom-client';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createTextDigest, type Random } from '../../runtime/random.ts';
import { parseStrictObject } from '../../runtime/text/strict-json.ts';
import type { SecurityEventFields, SecurityEvents } from '../../security-events.ts';
import { createReviewCounter } from '../metrics.ts';
import type { TokenData } from '../token-data.ts';
import { Act, type Origin } from '../tokens/act.ts';
import type { TokenFault } from '../tokens/identity.ts';
import { type AccessToken, type AccessTokens, LONGEST_TOKEN } from '../tokens/token-verifier.ts';
import type { UserStandings } from '../tokens/user-standing.ts';
import {
  type CallerAuthenticationOptions,
  type CallerMethod,
  type CallerProof,
  createCallerAuthentication,
} from './caller-authentication.ts';
import { callerAuthenticationFailed, invalidRequest, toOAuthError } from './refusals.ts';

/** The part of a POST to /oauth/authenticate that is checked before its body is read. */
export interface ReviewHead extends CallerProof, Origin {
  readonly contentType: string | undefined;
}

interface ReviewOrigin extends Origin {
  /** How `checkHead` has authenticated the caller. */
  readonly askedBy: CallerMethod;
}

/** The `status` of a TokenReview; the members are in wire order. */
type ReviewStatus =
  | { readonly authenticated: false }
  | {
      readonly authenticated: true;
      readonly user: { readonly username: string; readonly uid: string; readonly groups: readonly string[] };
      /** The requested audiences that the token has; absent when none were requested. */
      readonly audiences?: readonly string[];
    };

interface ReviewAnswer {
  /** The version of the request. */
  readonly apiVersion: string;
  readonly kind: 'TokenReview';
  readonly status: ReviewStatus;
}

/**
 * The webhook by which an API server authenticates tokens. Both methods throw an `OAuthError` if there is no review to answer with:
 * the caller is refused, the body is not a TokenReview, or data is missing. An invalid token gets an answer and not an error,
 * because the API server caches answers and takes errors for an outage.
 */
export interface TokenReviewWebhook {
  checkHead(head: ReviewHead): CallerMethod;
  review(body: Buffer, origin: ReviewOrigin): ReviewAnswer;
}

export interface TokenReviewWebhookParts {
  /** Is checked first, so that no user counts as gone while the users are not loaded. */
  readonly data: Pick<TokenData, 'check'>;
  readonly verifier: Pick<AccessTokens, 'inspect'>;
  readonly standing: UserStandings;
  /** The bearer token that callers must send; `undefined` if none is configured. */
  callerToken(): string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly events: SecurityEvents;
  /** Counts refused callers, by reason. */
  readonly clientFailures: Counter<'reason'>;
}

/** Creates the webhook (N-58 to N-61). It answers from memory and never calls the cluster, because the cluster is its caller. */
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
  /** Authenticates the caller first, so that nothing else of a stranger's request is read. */
  const checkHead = (head: ReviewHead, act: Act): CallerMethod => {
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
  /** The result, for the metric and the audit trail. */
  readonly result: 'authenticated' | 'other_audience' | TokenFault;
  readonly status: ReviewStatus;
  /** The user, client and session of a valid token, for the audit trail. */
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
 * Inspects a token. A text that is too long is refused before a digest of it is made. Only refusals that need cryptography
 * are remembered: whether the session and the user are still valid may change, so it is read from memory each time.
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

/** How long a refusal is remembered. A token that becomes valid because its key has arrived is accepted at most this much later. */
const KEPT_MS = 10_000;

/** About 6 MB when full. */
const CAPACITY = 32_000;

/** Remembers recently refused tokens, by their digests, so that another review of them needs no cryptography. */
export interface RefusedTokens {
  get(text: string): TokenFault | undefined;
  add(text: string, fault: TokenFault): void;
}

export function createRefusedTokens(clock: Clock, random: Random): RefusedTokens {
  const refused = new BoundedMap<{ readonly fault: TokenFault; readonly until: number }>(CAPACITY);
  const digest = createTextDigest(random);
  return {
    get: (text) => {
      const known = refused.get(digest(text));
      return known && known.until > clock.monotonic() ? known.fault : undefined;
    },
    add: (text, fault) => refused.set(digest(text), { fault, until: clock.monotonic() + KEPT_MS }),
  };
}

/**
 * The request of a TokenReview:
 * https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/
 */
interface ReviewRequest {
  readonly apiVersion: string;
  /** `''` if absent, because Go omits an empty text. */
  readonly token: string;
  /** Never empty; absent if the request has none. */
  readonly audiences?: readonly string[];
}

/** The media type, with any parameters; it defines none (RFC 8259 11). The bytes must be UTF-8, which is checked when they are parsed. */
const JSON_TYPE = /^application\/json[ \t]*(;|$)/i;

/** The deepest nesting that is parsed. A TokenReview has three levels, or four with the metadata of an object. */
const DEEPEST = 32;

const API_VERSIONS: readonly unknown[] = ['authentication.k8s.io/v1', 'authentication.k8s.io/v1beta1'];

function checkReviewType(contentType: string | undefined): void {
  if (!JSON_TYPE.test(contentType ?? '')) throw invalidRequest('the body must be application/json in UTF-8');
}

/** Parses a TokenReview. Unknown members are ignored, as in Kubernetes. The size was checked when the body was read. */
function parseReview(body: Buffer): ReviewRequest {
  const review = parseStrictObject(body, DEEPEST);
  if (!review) throw invalidRequest('the body is not one JSON object without repeated names');
  const { apiVersion, kind, spec } = review;
  if (kind !== 'TokenReview' || !API_VERSIONS.includes(apiVersion))
    throw invalidRequest('the body is not a TokenReview of authentication.k8s.io/v1 or v1beta1');
  if (!isObject(spec)) throw invalidRequest('the member spec is not an object');
  const { token = '', audiences } = spec;
  if (typeof token !== 'string') throw invalidRequest('the member spec.token is not a text');
  const asked = audiences ?? [];
  if (!isTexts(asked)) throw invalidRequest('the member spec.audiences is not a list of texts');
  return { apiVersion: apiVersion as string, token, ...(asked.length > 0 ? { audiences: asked } : {}) };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
