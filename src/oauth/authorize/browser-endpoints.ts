import type { Counter } from 'prom-client';
import type { FirstPasswords } from '../../users/first-passwords.ts';
import type { UserDirectory } from '../../users/user.ts';
import type { PasswordCheckParts } from '../endpoints/password-check.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import type { OAuthOptions } from '../options.ts';
import type { SessionEnds } from '../sessions/session-ends.ts';
import { readsOf } from '../sessions/session-reads.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import type { TokenData } from '../token-data.ts';
import type { UserStandings } from '../tokens/user-standing.ts';
import type { AuthorizationCodes } from './authorization-code.ts';
import { type AuthorizationEndpointParts, createAuthorizationEndpoint } from './authorization-endpoint.ts';
import type { BrowserEndpoints } from './browser-answer.ts';
import { type BrowserSession, createBrowserSessions } from './browser-session.ts';
import { createClientAnswers } from './client-answers.ts';
import { createCodeIssue } from './code-issue.ts';
import { createEndSession, createPageSignOut, type PendingSignOut } from './end-session.ts';
import { createIdTokenHints } from './id-token-hint.ts';
import { createNewPassword, createNewPasswordPage, type ProvenPassword } from './new-password-form.ts';
import { createOnward } from './onward.ts';
import { createPageCallers } from './page-callers.ts';
import { createRenewal, type PageSessions } from './page-sessions.ts';
import { createPageSignIn, type PageSignIn } from './page-sign-in.ts';
import { createPageVisit } from './page-visit.ts';
import type { PendingSignIn } from './pending-request.ts';
import { createLastingValues } from './sealed-values.ts';
import type { SignInParts } from './sign-in-form.ts';

interface BrowserParts extends PasswordCheckParts, Pick<AuthorizationEndpointParts, 'data' | 'clock' | 'events'> {
  readonly keys: Pick<SigningKeys, 'digestKey' | 'verificationKey'>;
  readonly sessions: SessionStore;
  readonly users: Pick<UserDirectory, 'byName'>;
  readonly standing: UserStandings;
  readonly codes: Pick<AuthorizationCodes, 'seal'>;
  readonly ends: Pick<SessionEnds, 'session' | 'user' | 'changed'>;
  /** `undefined` while nothing can set a first password: then people keep it. */
  firstPasswords(): FirstPasswords | undefined;
  /** Counts the calls of pages beside the bearers, by result. */
  readonly verifications: Counter<'result'>;
  /** The data that the end of a session needs. */
  readonly dataOfEnds: Pick<TokenData, 'check'>;
}

/**
 * Builds what browsers reach. Only the sign-out and the first password get something that can write: the way to a code writes nothing
 * (B-20).
 */
export function createBrowserEndpoints(
  options: OAuthOptions,
  { ends, dataOfEnds, codes, keys, users, standing, sessions, firstPasswords, ...parts }: BrowserParts,
): { readonly endpoints: BrowserEndpoints; readonly pageSignIn: PageSignIn; readonly pageSessions: PageSessions } {
  const { clock, events } = parts;
  const requests = createLastingValues<PendingSignIn>('authorization request', keys, clock);
  const values = createLastingValues<BrowserSession>('browser session', keys, clock);
  const readable = readsOf(sessions);
  const browserSessions = createBrowserSessions(options, { values, users, standing, sessions: readable, clock });
  const answers = createClientAnswers(options);
  const hints = createIdTokenHints(options, keys);
  const countSession = (): void => parts.metrics.signIns.inc({ by: 'session', result: 'ok' });
  const issue = createCodeIssue({ codes, sessions: readable, clock, countSession });
  const onward = createOnward(options, { requests, browserSessions, answers, issue });
  const pendingSignOuts = createLastingValues<PendingSignOut>('sign-out', keys, clock);
  const proofs = createLastingValues<ProvenPassword>('proven password', keys, clock);
  const toNewPassword = createNewPasswordPage({ proofs, standing });
  const newPasswordPage: SignInParts['newPasswordPage'] = (pending, user) =>
    user.uninitialized !== undefined && firstPasswords() ? toNewPassword(pending, user) : undefined;
  const signInParts = { ...parts, requests, browserSessions, sessions: readable, answers, onward, newPasswordPage };
  const endpoints = {
    ...createAuthorizationEndpoint(options, { ...signInParts, hints }),
    newPassword: createNewPassword(options, { ...signInParts, proofs, users, standing, firstPasswords, ends }),
    ...createEndSession(options, { pendingSignOuts, browserSessions, hints, ends, data: dataOfEnds, events }),
  };
  const { data, verifications } = parts;
  const pageSignIn = createPageSignIn(requests, browserSessions);
  const visit = createPageVisit({ signIn: pageSignIn, browserSessions, data, events });
  return {
    endpoints: options.hasPage ? { ...endpoints, visit } : endpoints,
    pageSignIn,
    pageSessions: {
      ...createPageCallers(options, { browserSessions, standing, data, verifications }),
      renew: createRenewal(options, browserSessions, clock),
      signOut: createPageSignOut(options, { browserSessions, ends, data: dataOfEnds, events }),
    },
  };
}
