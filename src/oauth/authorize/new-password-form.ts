import type { FirstPasswordResult, FirstPasswords } from '../../users/first-passwords.ts';
import type { User, UserDirectory } from '../../users/user.ts';
import { type Form, parameter, parseForm } from '../endpoints/form.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import type { Act } from '../tokens/act.ts';
import { standingDigest, type UserStandings } from '../tokens/user-standing.ts';
import { asAct } from './browser-act.ts';
import type { BrowserAnswer, BrowserEndpoints, BrowserForm, NewPasswordPage } from './browser-answer.ts';
import { beginAgain, checkPending, clientOf, PAGE_SECONDS, type PendingSignIn } from './pending-request.ts';
import type { SealedValues } from './sealed-values.ts';
import { createBegin, type SignInParts } from './sign-in-form.ts';

/** A person who has entered a first password, and has to choose one before the sign-in goes on. */
export interface ProvenPassword {
  readonly pending: PendingSignIn;
  readonly user: string;
  /** A digest of the user's password and state. With another one, the proof is no longer worth anything. */
  readonly standing: string;
}

export interface NewPasswordParts extends SignInParts {
  readonly proofs: SealedValues<ProvenPassword>;
  readonly users: Pick<UserDirectory, 'byName'>;
  readonly standing: UserStandings;
  firstPasswords(): FirstPasswords | undefined;
  readonly ends: Pick<SessionEnds, 'changed'>;
}

/** The page that asks for a new password after the first one was right. */
export const createNewPasswordPage =
  ({ proofs, standing }: Pick<NewPasswordParts, 'proofs' | 'standing'>) =>
  (pending: PendingSignIn, user: User): NewPasswordPage =>
    toPage(pending, {
      request: proofs.seal({ pending, user: user.name, standing: standingDigest(user, standing) }, PAGE_SECONDS),
      signedIn: user.name,
    });

/** The form of that page (B-26). The sign-in goes on with the new password, as after any other one. */
export function createNewPassword(options: OAuthOptions, parts: NewPasswordParts): BrowserEndpoints['newPassword'] {
  const begin = createBegin(options, parts);
  return (form) =>
    asAct(parts.events, form, async (act) => {
      parts.data.check();
      const fields = parseForm(form.body);
      const request = parameter(fields, 'request') ?? '';
      const proof = parts.proofs.open(request);
      const opened = checkPending(proof?.pending, form.browser, options);
      if (!proof || 'again' in opened) return 'again' in opened ? opened.again : { kind: 'fault', fault: 'expired' };
      const { pending } = opened;
      act.involves({ user: proof.user, clientId: clientOf(pending).clientId });
      const user = parts.users.byName(proof.user);
      const again = beginAgain(pending);
      if (!user || standingDigest(user, parts.standing) !== proof.standing) return again;
      const password = passwordIn(fields);
      const page = { request, signedIn: user.name };
      if (password === undefined) return toPage(pending, { ...page, problem: { kind: 'different' } });
      const result = await setPassword(user, password, form, parts);
      if (result.kind === 'outdated') return again;
      if (result.kind !== 'set') return toPage(pending, { ...page, problem: result });
      return goOn(user.name, pending, { form, act, again, begin }, parts);
    });
}

/** The new password, if it was typed twice in the same way. */
function passwordIn(fields: Form): string | undefined {
  const password = parameter(fields, 'password') ?? '';
  return password === (parameter(fields, 'repeated') ?? '') ? password : undefined;
}

const setPassword = (
  user: User,
  password: string,
  { source, requestId, ownRequestId, request, signal }: BrowserForm,
  { firstPasswords }: Pick<NewPasswordParts, 'firstPasswords'>,
): Promise<FirstPasswordResult> | { readonly kind: 'outdated' } => {
  const trail = { requestId, ...(ownRequestId === undefined ? {} : { ownRequestId }) };
  return firstPasswords()?.set({ user, password, source, trail, request, signal }) ?? { kind: 'outdated' };
};

/**
 * The change has ended the sessions of the user. Every replica does that when it sees the change, unless the end is recorded by then;
 * so it is recorded here, before the new session begins.
 */
async function goOn(
  name: string,
  pending: PendingSignIn,
  {
    begin,
    again,
    ...request
  }: {
    readonly begin: ReturnType<typeof createBegin>;
    readonly again: BrowserAnswer;
    readonly form: BrowserForm;
    readonly act: Act;
  },
  { users, standing, ends }: NewPasswordParts,
): Promise<BrowserAnswer> {
  const user = users.byName(name);
  if (!user) return again;
  await ends.changed(name, standingDigest(user, standing));
  return begin(user, pending, request);
}

const toPage = (
  pending: PendingSignIn,
  shown: Pick<NewPasswordPage, 'request' | 'signedIn' | 'problem'>,
): NewPasswordPage => ({ kind: 'new-password', ...clientOf(pending), locales: pending.locales, ...shown });
