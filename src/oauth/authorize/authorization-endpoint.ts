import type { Clock } from '../../runtime/clock.ts';
import { derived } from '../../runtime/derived.ts';
import type { SecurityEvents } from '../../security-events.ts';
import type { User } from '../../users/user.ts';
import { parameter, parseForm } from '../endpoints/form.ts';
import { checkPassword, type PasswordCheckParts } from '../endpoints/password-check.ts';
import { toOAuthError } from '../endpoints/refusals.ts';
import { withParameters } from '../endpoints/with-parameters.ts';
import { derivedKey } from '../keys/loaded-keys.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import type { OAuthOptions } from '../options.ts';
import { waitPastCutOff } from '../sessions/session-start.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import type { TokenData } from '../token-data.ts';
import { Act } from '../tokens/act.ts';
import { standingDigest, type UserStandings } from '../tokens/user-standing.ts';
import { type AuthorizationCodes, CODE_SECONDS, digestOf } from './authorization-code.ts';
import { type AuthorizationRequest, checkAuthorizationRequest, type Return } from './authorization-request.ts';
import type { AuthorizationEndpoint, BrowserAnswer, SignInPage, SignInRequest } from './browser-answer.ts';
import { isRegistered } from './redirect-uris.ts';
import { createSealedValues, type SealedValues } from './sealed-values.ts';

/** An authorization request on its way through the page, and the browser that has the page. */
export interface PendingRequest {
  readonly request: AuthorizationRequest;
  /** `digestOf` the value of the browser's cookie. */
  readonly browser: string;
  readonly locales: readonly string[];
}

/**
 * Pending requests under a key that all replicas keep through every rotation of signing keys, so that no sign-in is interrupted by
 * one.
 */
export const createPendingRequests = (
  keys: Pick<SigningKeys, 'digestKey'>,
  clock: Clock,
): SealedValues<PendingRequest> =>
  createSealedValues('authorization-request+jwe', {
    clock,
    key: () => {
      const secret = keys.digestKey();
      return secret && { kid: 'digest-key', key: keyOfRequests(secret) };
    },
  });

const keyOfRequests = derived((secret: Buffer) => derivedKey(secret, 'authorization request'));

/** The parts have no store that can write: a visit leaves nothing behind (B-20). */
export interface AuthorizationEndpointParts extends PasswordCheckParts {
  readonly requests: SealedValues<PendingRequest>;
  readonly codes: Pick<AuthorizationCodes, 'seal'>;
  readonly sessions: Pick<SessionStore, 'newId' | 'read'>;
  readonly standing: UserStandings;
  readonly data: Pick<TokenData, 'check'>;
  readonly clock: Clock;
  readonly events: SecurityEvents;
}

/** Enough to look up a password. The page then has to be asked for again. */
const PAGE_SECONDS = 600;

export const AUTHORIZE_PATH = '/oauth/authorize';

export function createAuthorizationEndpoint(
  options: OAuthOptions,
  parts: AuthorizationEndpointParts,
): AuthorizationEndpoint {
  const answers = createClientAnswers(options);
  const authorize: AuthorizationEndpoint['authorize'] = async (query, browser) => {
    const checked = checkAuthorizationRequest(query, options);
    if (checked.kind === 'page') return { kind: 'fault', fault: checked.fault };
    if (checked.kind === 'error')
      return answers.to(checked.to, { error: checked.error.code, error_description: checked.error.description });
    const { request, prompting, client } = checked;
    if (client.grantMethod === 'deny')
      return answers.to(request, { error: 'access_denied', error_description: 'the client may not sign people in' });
    if (prompting.isSilent)
      return answers.to(request, { error: 'login_required', error_description: 'nobody is signed in' });
    checkData(parts.data);
    const { locales, loginHint: username = '' } = prompting;
    const pending = { request, browser: digestOf(browser), locales };
    return toPage(pending, { sealed: parts.requests.seal(pending, PAGE_SECONDS), username });
  };
  return { authorize, signIn: createSignIn(options, parts, answers) };
}

interface ClientAnswers {
  /** Sends the browser to the client with these parameters, the state and the issuer (RFC 9207, B-15). */
  to(to: Return, parameters: Readonly<Record<string, string>>): BrowserAnswer;
}

const createClientAnswers = ({ issuer }: Pick<OAuthOptions, 'issuer'>): ClientAnswers => ({
  to: ({ redirectURI, responseMode, state }, parameters) => {
    const fields = { ...parameters, ...(state === undefined ? {} : { state }), iss: issuer };
    return responseMode === 'form_post'
      ? { kind: 'post', action: redirectURI, fields }
      : { kind: 'redirect', location: withParameters(redirectURI, fields) };
  },
});

function createSignIn(
  options: OAuthOptions,
  parts: AuthorizationEndpointParts,
  answers: ClientAnswers,
): AuthorizationEndpoint['signIn'] {
  return async (http) => {
    const act = new Act(parts.events, http, 'authorize');
    try {
      parts.data.check();
      const form = parseForm(http.body);
      const sealed = parameter(form, 'request') ?? '';
      const pending = parts.requests.open(sealed);
      if (!pending || !isStillGood(pending.request, options)) return { kind: 'fault', fault: 'expired' };
      if (http.browser === undefined || digestOf(http.browser) !== pending.browser)
        return { kind: 'fault', fault: 'lost_cookie', again: toTarget(pending.request) };
      act.involves({ clientId: pending.request.clientId });
      const typed = { username: parameter(form, 'username') ?? '', password: parameter(form, 'password') ?? '' };
      const signedIn = await judge(typed, http, act, parts);
      if (!('user' in signedIn)) return toPage(pending, { sealed, username: typed.username, ...signedIn });
      const { maximumClockSkewSeconds } = options;
      const waiting = { maximumClockSkewSeconds, signal: http.signal };
      return answers.to(pending.request, { code: await issue(signedIn.user, pending.request, act, parts, waiting) });
    } catch (error) {
      const refusal = toOAuthError(error);
      act.refused(refusal.refusal);
      throw refusal;
    } finally {
      act.end();
    }
  };
}

/** The user, or what the page says about the attempt. */
type Judged = { readonly user: User } | (Required<Pick<SignInPage, 'problem'>> & Pick<SignInPage, 'retryAfterSeconds'>);

async function judge(
  typed: { readonly username: string; readonly password: string },
  http: SignInRequest,
  act: Act,
  parts: PasswordCheckParts,
): Promise<Judged> {
  if (typed.username === '' || typed.password === '') return { problem: 'incomplete' }; // no attempt yet
  act.is('sign_in');
  const result = await checkPassword({ ...typed, http, act }, parts);
  if (result.kind === 'ok') return { user: result.user };
  if (result.kind === 'refused') return { problem: 'incorrect' };
  return { problem: result.kind, retryAfterSeconds: result.retryAfterSeconds };
}

async function issue(
  user: User,
  { clientId, redirectURI, isRedirectNamed, scope, nonce, codeChallenge }: AuthorizationRequest,
  act: Act,
  { clock, sessions, standing, codes }: AuthorizationEndpointParts,
  waiting: { readonly maximumClockSkewSeconds: number; readonly signal: AbortSignal },
): Promise<string> {
  const { maximumClockSkewSeconds: skew, signal } = waiting;
  await waitPastCutOff(user.name, skew, { sessions, clock, signal });
  const issuedAt = Math.floor(clock.now() / 1000);
  const sid = sessions.newId();
  act.is('code_issued');
  act.involves({ user: user.name, sid });
  const code = {
    ...{ clientId, isRedirectNamed, redirect: digestOf(redirectURI), user: user.name, sid, issuedAt },
    ...{ authTime: issuedAt, standing: standingDigest(user, standing) },
    ...(scope === undefined ? {} : { scope }),
    ...(nonce === undefined ? {} : { nonce }),
    ...(codeChallenge === undefined ? {} : { codeChallenge }),
  };
  return codes.seal(code, CODE_SECONDS);
}

/** Another replica may have made the page, with an older configuration. */
function isStillGood(
  { clientId, redirectURI, codeChallenge }: AuthorizationRequest,
  { clients }: OAuthOptions,
): boolean {
  const client = clients.find(({ name }) => name === clientId);
  return (
    client !== undefined &&
    isRegistered(client.redirectURIs, redirectURI) &&
    client.grantTypes.includes('authorization_code') &&
    client.grantMethod !== 'deny' &&
    (codeChallenge !== undefined || !client.public)
  );
}

/** Throws an `OAuthError` while nobody could sign in: the person gets no page that must fail. */
function checkData(data: Pick<TokenData, 'check'>): void {
  try {
    data.check();
  } catch (error) {
    throw toOAuthError(error);
  }
}

const toPage = (
  { request: { clientId, redirectURI }, locales }: PendingRequest,
  shown: { readonly sealed: string } & Pick<SignInPage, 'username' | 'problem' | 'retryAfterSeconds'>,
): SignInPage => {
  const { sealed: request, ...more } = shown;
  return { kind: 'sign-in', request, clientId, redirectURI, locales, ...more };
};

/** The request as a target of ours, so that it can begin again. */
const toTarget = (request: AuthorizationRequest): string =>
  withParameters(AUTHORIZE_PATH, {
    client_id: request.clientId,
    response_type: 'code',
    redirect_uri: request.isRedirectNamed ? request.redirectURI : undefined,
    response_mode: request.responseMode,
    scope: request.scope,
    state: request.state,
    nonce: request.nonce,
    code_challenge: request.codeChallenge,
    code_challenge_method: request.codeChallenge === undefined ? undefined : 'S256',
  });
