import { readNewPassword } from '../../users/new-password.ts';
import type { LoginRequest } from './login-arguments.ts';
import { LoginError } from './login-error.ts';
import type { SavedSession } from './session.ts';
import { type FileReader, readOrFail } from './session-inputs.ts';
import type { Terminal } from './terminal.ts';

export interface InputParts extends FileReader {
  readonly terminal: Terminal;
  /** Reads all of standard input. */
  readInput(): Promise<Uint8Array>;
}

export interface SignInInput {
  readonly username: string;
  readonly password: string;
}

/**
 * Gets name and password for a sign-in: from the command line and the password file, else from the terminal. `before`
 * is the session that has ended; it gives the default for the name. Throws a `LoginError` that says what to run when there
 * is no terminal to ask.
 */
export async function signInInput(
  request: LoginRequest,
  before: SavedSession | undefined,
  parts: InputParts,
): Promise<SignInInput> {
  const { server, passwordFile } = request;
  const known = request.username ?? before?.username;
  if (!parts.terminal.isThere && (known === undefined || passwordFile === undefined))
    throw new LoginError(nobodyToAsk(request, before));
  const username = known ?? (await askName(server, parts.terminal));
  if (passwordFile !== undefined) return { username, password: await filePassword(passwordFile, parts) };
  const question = `Password of ${username} at ${server}: `;
  const typed = await parts.terminal.ask(question, { isShown: false });
  return { username, password: checkedPassword(Buffer.from(typed)) };
}

async function askName(server: string, terminal: Terminal): Promise<string> {
  const name = await terminal.ask(`User at ${server}: `, { isShown: true });
  if (name === '') throw new LoginError('no name was given: nobody was signed in');
  return name;
}

async function filePassword(file: string, { readInput, readFile }: InputParts): Promise<string> {
  if (file === '-') return checkedPassword(await readInput());
  return checkedPassword(readOrFail('password file', file, readFile));
}

function checkedPassword(input: Uint8Array): string {
  const read = readNewPassword(input);
  if ('fault' in read) throw new LoginError(read.fault);
  return read.password;
}

function nobodyToAsk(request: LoginRequest, before: SavedSession | undefined): string {
  const { server, passwordFile } = request;
  const state =
    before === undefined
      ? `nobody is signed in at ${server}`
      : `the session of ${before.username} at ${server} has ended`;
  if (passwordFile !== undefined) return `${state}, and the password file is of no use without --username`;
  return `${state}, and there is no terminal to ask for the password: run ${commandLine(request)}`;
}

/** The command that a person types to sign in to the same session. */
function commandLine(request: LoginRequest): string {
  const { server, username, clientId, clientSecretFile, certificateAuthority, certificateAuthorityData, sessionFile } =
    request;
  const authority = certificateAuthority ?? (certificateAuthorityData === undefined ? undefined : 'FILE');
  const options = [
    ['--server', server],
    ['--username', username],
    ['--client-id', clientId === 'gatehouse' ? undefined : clientId],
    ['--client-secret-file', clientSecretFile],
    ['--certificate-authority', authority],
    ['--session-file', sessionFile],
  ].flatMap(([option, value]) => (value === undefined ? [] : [option, quoted(value)]));
  return ['gatehouse login', ...options].join(' ');
}

/** Quotes a value for a shell. */
const quoted = (value: string): string =>
  /^[\w./:@%+=-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
