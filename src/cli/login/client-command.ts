import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import type { ClientParts } from './client-parts.ts';
import { DEFAULT_EXEC_INFO, execCredential, parseExecInfo } from './exec-credential.ts';
import { type ClientRequest, isLoopback, type KubeconfigRequest, type LoginRequest } from './login-arguments.ts';
import { readSession } from './read-session.ts';
import { isFresh, nameOf, type SavedSession } from './session.ts';
import { authorityOf, sessionInputs } from './session-inputs.ts';

/** How long a token is given to clients without asking the server again whether it is still valid. */
const UNCHECKED_MS = 60_000;

/**
 * Signs in or out at a server, or prints a kubeconfig for it. Throws a `LoginError`. Only what every command needs is imported above;
 * the rest is loaded by the command that needs it.
 */
export async function runClientCommand(request: ClientRequest, parts: ClientParts): Promise<void> {
  if (request.action === 'kubeconfig') return printKubeconfig(request, parts);
  if (request.server.startsWith('http:') && !isLoopback(request.server))
    parts.complain(`warning: ${request.server} is plain http: password and tokens can be read on the way`);
  if (request.action === 'login') return login(request, parts);
  const { signOut } = await import('./sign-out.ts');
  await signOut(request, parts);
}

async function login(request: LoginRequest, parts: ClientParts): Promise<void> {
  const execInfo = parseExecInfo(parts.environment['KUBERNETES_EXEC_INFO']);
  const printed = request.print ?? (execInfo === undefined ? 'none' : 'credential');
  const { apiVersion, isInteractive } = execInfo ?? DEFAULT_EXEC_INFO;
  const isByHand = printed === 'none';
  const inputs = sessionInputs(request, parts);
  const checkedSince = parts.clock.now() - (isByHand ? 0 : UNCHECKED_MS);
  const asking = { inputs, checkedSince, toleratesOutage: !isByHand, mayAskPerson: isInteractive !== false };
  const session = standingSession(request, asking, parts) ?? (await byAsking());
  if (isByHand) return reportSignIn(session, parts);
  const { accessToken: token, goodUntil } = session;
  parts.print(printed === 'token' ? token : execCredential({ apiVersion, token, goodUntil }));

  async function byAsking(): Promise<SavedSession> {
    const { loginByAsking } = await import('./login-by-asking.ts');
    return loginByAsking(request, asking, parts);
  }
}

/** The session in the file if it can be given to a client as it is. Most runs end with it, without a lock. */
function standingSession(
  options: LoginRequest,
  { inputs, checkedSince }: { readonly inputs: ReturnType<typeof sessionInputs>; readonly checkedSince: number },
  { clock, userId }: ClientParts,
): SavedSession | undefined {
  const session = readSession({ file: inputs.place.file, options, userId });
  return session && isFresh(session, { checkedSince, now: clock.now() }) ? session : undefined;
}

const reportSignIn = (session: SavedSession, { complain }: ClientParts): void =>
  complain(
    `signed in at ${session.server} as ${nameOf(session)}; the token is valid until ${toRfc3339(session.goodUntil)} and renewed while it is used`,
  );

async function printKubeconfig(request: KubeconfigRequest, parts: ClientParts): Promise<void> {
  const { kubeconfigText } = await import('./kubeconfig/kubeconfig.ts');
  const { command, server } = request;
  // client-go (clientcmd) uses the user of a kubeconfig only when the connection is TLS.
  if (server.startsWith('http:'))
    parts.complain(`warning: kubectl sends no credentials to ${server}, because it is plain http: use https`);
  if (!command.includes('/') && !parts.isInPath(command))
    parts.complain(
      `warning: there is no ${command} in PATH, where clients look for it; --command names another program`,
    );
  parts.print(kubeconfigText(request, { authority: authorityOf(request, parts) }));
}
