import type { Clock } from '../../runtime/clock.ts';
import type { SecurityEvents } from '../../security-events.ts';
import type { User } from '../../users/user.ts';
import { parameter, parseForm } from '../endpoints/form.ts';
import { checkPassword, type PasswordCheckParts } from '../endpoints/password-check.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionReads } from '../sessions/session-reads.ts';
import { waitPastCutOff } from '../sessions/session-start.ts';
import type { TokenData } from '../token-data.ts';
import type { Act } from '../tokens/act.ts';
import { asAct } from './browser-act.ts';
import type { BrowserAnswer, BrowserEndpoints, BrowserForm, NewPasswordPage, SignInPage } from './browser-answer.ts';
import type { BrowserSessions } from './browser-session.ts';
import type { ClientAnswers } from './client-answers.ts';
import type { Onward } from './onward.ts';
import { clientOf, openPending, type PendingRequests, type PendingSignIn } from './pending-request.ts';

export interface SignInParts extends PasswordCheckParts {
  readonly requests: PendingRequests;
  readonly browserSessions: BrowserSessions;
  readonly sessions: Pick<SessionReads, 'read'>;
  readonly answers: ClientAnswers;
  readonly onward: Onward;
  readonly data: Pick<TokenData, 'check'>;
  readonly clock: Clock;
  readonly events: SecurityEvents;
  /** The page for a user who must choose a password; `undefined` if this one need not. */
  newPasswordPage(pending: PendingSignIn, user: User): NewPasswordPage | undefined;
}

/** The form of the sign-in page. */
export function createSignIn(options: OAuthOptions, parts: SignInParts): BrowserEndpoints['signIn'] {
  const begin = createBegin(options, parts);
  return (form) =>
    asAct(parts.events, form, async (act) => {
      parts.data.check();
      const fields = parseForm(form.body);
      const sealed = parameter(fields, 'request') ?? '';
      const opened = openPending(sealed, form.browser, { ...parts, options });
      if ('again' in opened) return opened.again;
      const { pending } = opened;
      act.involves({ clientId: clientOf(pending).clientId });
      const typed = { username: parameter(fields, 'username') ?? '', password: parameter(fields, 'password') ?? '' };
      const judged = await judge(typed, form, act, parts);
      if (!('user' in judged)) return again(pending, { request: sealed, username: typed.username, ...judged });
      const { user } = judged;
      return parts.newPasswordPage(pending, user) ?? begin(user, pending, { form, act });
    });
}

/** The user, or what the page says about the attempt. */
type Judged = { readonly user: User } | (Required<Pick<SignInPage, 'problem'>> & Pick<SignInPage, 'retryAfterSeconds'>);

async function judge(
  typed: { readonly username: string; readonly password: string },
  http: BrowserForm,
  act: Act,
  parts: PasswordCheckParts,
): Promise<Judged> {
  if (typed.username === '' || typed.password === '') return { problem: 'incomplete' }; // no attempt yet
  act.is('sign_in');
  const result = await checkPassword({ by: 'page', ...typed, http, act }, parts);
  if (result.kind === 'ok') return { user: result.user };
  if (result.kind === 'refused') return { problem: 'incorrect' };
  return { problem: result.kind, retryAfterSeconds: result.retryAfterSeconds };
}

const again = (
  pending: PendingSignIn,
  shown: Pick<SignInPage, 'request' | 'username' | 'problem' | 'retryAfterSeconds'>,
): SignInPage => ({ kind: 'sign-in', ...clientOf(pending), locales: pending.locales, ...shown });

/** Begins the session of the browser, and goes on to the client or to a page of ours. */
export const createBegin =
  ({ maximumClockSkewSeconds }: OAuthOptions, parts: SignInParts) =>
  async (
    user: User,
    pending: PendingSignIn,
    { form, act }: { readonly form: BrowserForm; readonly act: Act },
  ): Promise<BrowserAnswer> => {
    const { browserSessions, answers, onward } = parts;
    await waitPastCutOff(user.name, maximumClockSkewSeconds, { ...parts, signal: form.signal });
    const session = browserSessions.begin(user, browserSessions.known(form.session));
    act.involves({ user: user.name, sid: session.sid });
    act.says({ by: 'password' });
    if ('visit' in pending || pending.expectedUser === undefined || pending.expectedUser === user.name)
      return onward.afterPassword(pending, session, { by: 'password', act });
    const error = { code: 'login_required', description: 'another user has signed in' } as const;
    return { ...answers.error(pending.request, error), session: browserSessions.seal(session) };
  };
