import type { ClientParts } from './client-parts.ts';
import { keepSession } from './keep-session.ts';
import type { LoginRequest } from './login-arguments.ts';
import type { SavedSession } from './session.ts';
import type { SessionInputs } from './session-inputs.ts';
import { sessionTools } from './session-tools.ts';

interface Asking {
  readonly inputs: SessionInputs;
  /** Since when the validity of the session must have been checked, in milliseconds since 1970. */
  readonly checkedSince: number;
  readonly toleratesOutage: boolean;
  /** Whether the client lets a person be asked at the terminal. */
  readonly mayAskPerson: boolean;
}

/**
 * Asks the server whether the session is still valid, renews it, or signs a person in. Only this needs TLS, a terminal or a browser,
 * which take longer to load than all of a call with a session that stands. Throws a `LoginError`.
 */
export async function loginByAsking(request: LoginRequest, asking: Asking, parts: ClientParts): Promise<SavedSession> {
  const { inputs, checkedSince, toleratesOutage, mayAskPerson } = asking;
  const more = { ...parts, ...(await parts.loadMore()) };
  const of = sessionTools(request, inputs, more);
  const terminal = { ...more.terminal, isThere: more.terminal.isThere && mayAskPerson };
  const { server, clientId } = request;
  const bySignIn = async (before?: SavedSession) => {
    const { signIn } = await import('./sign-in.ts');
    return signIn(request, before, { ...more, ...of, terminal, server, clientId });
  };
  return keepSession(checkedSince, { ...of, toleratesOutage, signIn: bySignIn });
}
