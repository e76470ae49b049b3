import { parameter, parseForm } from '../endpoints/form.ts';
import type { OAuthOptions } from '../options.ts';
import type { TokenData } from '../token-data.ts';
import type { Act } from '../tokens/act.ts';
import { digestOf } from './authorization-code.ts';
import { checkAuthorizationRequest, type Prompting } from './authorization-request.ts';
import { asAct } from './browser-act.ts';
import type { BrowserAnswer, BrowserEndpoints, BrowserVisit, SignInPage } from './browser-answer.ts';
import { type LiveBrowserSession, withConsent } from './browser-session.ts';
import { consentTo } from './consent.ts';
import type { IdTokenHint, IdTokenHints } from './id-token-hint.ts';
import { beginAgain, openPending, PAGE_SECONDS, type PendingRequest } from './pending-request.ts';
import { createSignIn, type SignInParts } from './sign-in-form.ts';

/** The parts have no store that can write: a visit leaves nothing behind (B-20). */
export interface AuthorizationEndpointParts extends SignInParts {
  readonly hints: IdTokenHints;
}

/** `/oauth/authorize` (RFC 6749 4.1.1, OpenID Connect Core 3.1.2) and the forms of its pages. */
export function createAuthorizationEndpoint(
  options: OAuthOptions,
  parts: AuthorizationEndpointParts,
): Pick<BrowserEndpoints, 'authorize' | 'signIn' | 'consent'> {
  return {
    authorize: (visit) => asAct(parts.events, visit, async (act) => authorize(visit, act, options, parts)),
    signIn: createSignIn(options, parts),
    consent: createConsent(options, parts),
  };
}

function authorize(
  visit: BrowserVisit & { readonly browser: string },
  act: Act,
  options: OAuthOptions,
  parts: AuthorizationEndpointParts,
): BrowserAnswer {
  const { answers, onward } = parts;
  const checked = checkAuthorizationRequest(visit.query, options);
  if (checked.kind === 'page') return { kind: 'fault', fault: checked.fault };
  if (checked.kind === 'error') return answers.error(checked.to, checked.error);
  const { request, prompting, client } = checked;
  if (client.grantMethod === 'deny')
    return answers.error(request, { code: 'access_denied', description: 'the client may not sign people in' });
  const hint = parts.hints(prompting.idTokenHint);
  const pending: PendingRequest = {
    ...{ request, browser: digestOf(visit.browser), ...wantedBy(prompting) },
    ...(hint ? { expectedUser: hint.user } : {}),
  };
  const live = signedIn(visit, prompting, parts);
  if (!live || mustSignIn(prompting, { live, hint, nowSeconds: parts.clock.now() / 1000 }))
    return prompting.isSilent
      ? answers.error(request, { code: 'login_required', description: 'the person has to sign in' })
      : signInPage(pending, { prompting, hint, live }, parts);
  if (prompting.isSilent && onward.mustAsk(pending, live.session))
    return answers.error(request, { code: 'consent_required', description: 'the person has to be asked' });
  return onward.goOn(pending, live.session, { by: 'session', act });
}

/** What a request wants of its pages, also after the person has begun again. */
const wantedBy = ({ locales, wantsConsent, wantsPassword, wantsAccount, maxAgeSeconds, loginHint }: Prompting) => ({
  ...{ locales, asksConsent: wantsConsent, asksPassword: wantsPassword || wantsAccount },
  ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }),
  ...(loginHint === undefined ? {} : { loginHint }),
});

/** Nobody is looked up for a silent request without a cookie, which many programs send often. */
function signedIn(
  { session }: Pick<BrowserVisit, 'session'>,
  { isSilent }: Pick<Prompting, 'isSilent'>,
  { data, browserSessions }: { readonly data: Pick<TokenData, 'check'> } & Pick<SignInParts, 'browserSessions'>,
): LiveBrowserSession | undefined {
  if (session !== undefined || !isSilent) data.check(); // the person gets no page that must fail
  return browserSessions.live(session);
}

/** Whether the signed-in person has to enter a password: the client says so, or expects somebody else (B-11 to B-13). */
function mustSignIn(
  { wantsPassword, wantsAccount, maxAgeSeconds, loginHint, idTokenHint }: Prompting,
  at: { readonly live: LiveBrowserSession; readonly hint: IdTokenHint | undefined; readonly nowSeconds: number },
): boolean {
  const { user, session } = at.live;
  const isTooOld = maxAgeSeconds !== undefined && session.authTime + maxAgeSeconds < at.nowSeconds;
  const isNamed = loginHint === undefined || [user.name, user.email?.toLowerCase()].includes(loginHint.toLowerCase());
  const isExpected = idTokenHint === undefined || at.hint?.user === user.name;
  return wantsPassword || wantsAccount || isTooOld || !isNamed || !isExpected;
}

function signInPage(
  pending: PendingRequest,
  {
    prompting,
    hint,
    live,
  }: {
    readonly prompting: Prompting;
    readonly hint: IdTokenHint | undefined;
    readonly live: LiveBrowserSession | undefined;
  },
  { requests }: Pick<SignInParts, 'requests'>,
): SignInPage {
  const { clientId, redirectURI } = pending.request;
  const signedIn = live?.user.name;
  const known = prompting.wantsAccount ? '' : (signedIn ?? '');
  return {
    ...{ kind: 'sign-in', clientId, redirectURI, locales: pending.locales },
    request: requests.seal(pending, PAGE_SECONDS),
    username: prompting.loginHint ?? hint?.user ?? known,
    ...(signedIn === undefined ? {} : { signedIn }),
  };
}

/** The form of the consent page. Its person must still be signed in, with the session that the page was made for. */
function createConsent(options: OAuthOptions, parts: SignInParts): BrowserEndpoints['consent'] {
  return (form) =>
    asAct(parts.events, form, async (act) => {
      parts.data.check();
      const fields = parseForm(form.body);
      const opened = openPending(parameter(fields, 'request') ?? '', form.browser, { ...parts, options });
      if ('again' in opened) return opened.again;
      const { pending } = opened;
      if ('visit' in pending) return { kind: 'fault', fault: 'expired' };
      const live = parts.browserSessions.live(form.session);
      if (!live || live.session.sid !== pending.sid) return beginAgain(pending);
      act.involves({ user: live.user.name, clientId: pending.request.clientId });
      if (parameter(fields, 'decision') !== 'allow')
        return parts.answers.error(pending.request, { code: 'access_denied', description: 'the person has refused' });
      const { by = 'session' } = pending;
      return parts.onward.toClient(pending, withConsent(live.session, consentTo(pending.request)), { by, act });
    });
}
