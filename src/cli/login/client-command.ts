import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import type { Browser } from './browser/desktop-browser.ts';
import { DEFAULT_EXEC_INFO, execCredential, parseExecInfo } from './exec-credential.ts';
import { type KeepParts, keepSession } from './keep-session.ts';
import type {
  ClientRequest,
  KubeconfigRequest,
  LoginRequest,
  LoginSessionOptions,
  LogoutRequest,
} from './login-arguments.ts';
import { LoginError } from './login-error.ts';
import { isLoopback, ServerCalls } from './server-calls.ts';
import { nameOf, type SavedSession } from './session.ts';
import { SessionFile } from './session-file.ts';
import { type LockParts, SessionLock } from './session-lock.ts';
import { sessionPlace } from './session-place.ts';
import { signIn } from './sign-in.ts';
import { type InputParts, readOrFail } from './sign-in-input.ts';
import { TokenClient } from './token-client.ts';
import type { Interruptible } from './until-interrupted.ts';

/** How long a token is given to clients without asking the server again whether it is still valid. */
const UNCHECKED_MS = 60_000;

export interface ClientParts extends InputParts, LockParts, Interruptible {
  readonly clock: Clock;
  readonly random: Random;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string | undefined;
  readonly userId: number | undefined;
  /** Writes a line to standard output, for the program that runs us. */
  print(line: string): void;
  readonly browser: Browser;
  /** Whether this program is in a folder of PATH. */
  isInPath(command: string): boolean;
}

/** Signs in or out at a server, or prints a kubeconfig for it. Throws a `LoginError`. */
export async function runClientCommand(request: ClientRequest, parts: ClientParts): Promise<void> {
  if (request.action === 'kubeconfig') return printKubeconfig(request, parts);
  if (request.server.startsWith('http:') && !isLoopback(request.server))
    parts.complain(`warning: ${request.server} is plain http: password and tokens can be read on the way`);
  return request.action === 'login' ? login(request, parts) : logout(request, parts);
}

async function login(request: LoginRequest, parts: ClientParts): Promise<void> {
  const execInfo = parseExecInfo(parts.environment['KUBERNETES_EXEC_INFO']);
  const printed = request.print ?? (execInfo === undefined ? 'none' : 'credential');
  const { apiVersion, isInteractive } = execInfo ?? DEFAULT_EXEC_INFO;
  const terminal = { ...parts.terminal, isThere: parts.terminal.isThere && isInteractive !== false };
  const isByHand = printed === 'none';
  const of = sessionParts(request, parts);
  const { server, clientId } = request;
  const signingIn = (before?: SavedSession) => signIn(request, before, { ...parts, ...of, terminal, server, clientId });
  const keeping = { ...of, toleratesOutage: !isByHand, signIn: signingIn };
  const session = await keepSession(parts.clock.now() - (isByHand ? 0 : UNCHECKED_MS), keeping);
  if (isByHand) return reportSignIn(session, parts);
  const { accessToken: token, goodUntil } = session;
  parts.print(printed === 'token' ? token : execCredential({ apiVersion, token, goodUntil }));
}

const reportSignIn = (session: SavedSession, { complain }: ClientParts): void =>
  complain(
    `signed in at ${session.server} as ${nameOf(session)}; the token is valid until ${toRfc3339(session.goodUntil)} and renewed while it is used`,
  );

async function logout(request: LogoutRequest, parts: ClientParts): Promise<void> {
  const { server } = request;
  const { file, lock, tokens } = sessionParts(request, parts);
  if ((await file.read()) === undefined) return parts.complain(`nobody is signed in at ${server}`);
  await file.prepareFolder();
  await lock.hold(async () => {
    const session = await file.read();
    if (session === undefined) return; // another process signed out first
    if (request.isAll) await endAll(session, { file, tokens });
    await tokens.revoke(session);
    await file.remove();
  });
  parts.complain(request.isAll ? `every session at ${server} has ended` : `signed out at ${server}`);
}

async function printKubeconfig(request: KubeconfigRequest, parts: ClientParts): Promise<void> {
  const { kubeconfigText } = await import('./kubeconfig.ts'); // loads the YAML library, which a sign-in does not need
  const { command, server } = request;
  // client-go (clientcmd) uses the user of a kubeconfig only when the connection is TLS.
  if (server.startsWith('http:'))
    parts.complain(`warning: kubectl sends no credentials to ${server}, because it is plain http: use https`);
  if (!command.includes('/') && !parts.isInPath(command))
    parts.complain(
      `warning: there is no ${command} in PATH, where clients look for it; --command names another program`,
    );
  parts.print(kubeconfigText(request, { authority: authorityOf(request, parts) }).trimEnd());
}

/** Ends every session of the user. This needs a valid access token, so the session may have to be refreshed first. */
async function endAll(session: SavedSession, { file, tokens }: Pick<KeepParts, 'file' | 'tokens'>): Promise<void> {
  if (await tokens.signOutEverywhere(session)) return;
  const renewed = await tokens.refresh(session);
  if (renewed) await file.write(renewed); // kept in case the next call fails: the old refresh token is used up
  if (renewed === undefined || !(await tokens.signOutEverywhere(renewed)))
    throw new LoginError(
      `this session has ended, so it cannot end the others at ${session.server}: sign in again, then run logout --all`,
    );
}

interface SessionParts extends Omit<KeepParts, 'signIn' | 'toleratesOutage'> {
  readonly calls: ServerCalls;
}

function sessionParts(options: LoginSessionOptions, parts: ClientParts): SessionParts {
  const { server, clientId } = options;
  const place = sessionPlace(options, parts);
  const calls = new ServerCalls(server, { ...parts, authority: authorityOf(options, parts) });
  const file = new SessionFile(place, options, parts);
  const lock = new SessionLock(place.file, parts);
  const tokens = new TokenClient({
    calls,
    clock: parts.clock,
    server,
    clientId,
    clientSecret: secretOf(options, parts),
  });
  return { calls, file, lock, tokens, clock: parts.clock };
}

/**
 * Without a secret file, the client id is sent as the secret. It is the secret of the built-in client of the platform kubesphere,
 * and the server treats it as no secret for a public client.
 */
function secretOf({ clientId, clientSecretFile }: LoginSessionOptions, { readFile }: ClientParts): string {
  if (clientSecretFile === undefined) return clientId;
  return Buffer.from(readOrFail('client secret file', clientSecretFile, readFile))
    .toString()
    .trim();
}

/** The CA certificates in PEM; `undefined`: those of the system are used. */
function authorityOf(options: LoginSessionOptions, { readFile }: Pick<InputParts, 'readFile'>): string | undefined {
  const { certificateAuthority: file, certificateAuthorityData: data } = options;
  if (file === undefined && data === undefined) return undefined;
  const pem =
    file === undefined ? Buffer.from(data ?? '', 'base64') : readOrFail('certificate authority', file, readFile);
  const text = Buffer.from(pem).toString();
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new LoginError(`the certificate authority ${file ?? 'in base64'} holds no certificate in PEM`);
}
