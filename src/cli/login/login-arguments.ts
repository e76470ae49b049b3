import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** Where to sign in, with which OAuth client, and where the session is kept. */
export interface LoginSessionOptions {
  /** The address of Gatehouse, without a slash at its end. */
  readonly server: string;
  /** Default: the user of the session; without a session, the person at the terminal is asked. */
  readonly username?: string;
  readonly clientId: string;
  /**
   * The file with the client secret. Absent: the client id is sent as the secret. The built-in client accepts that: it is
   * public, or its secret is its id (platform kubesphere).
   */
  readonly clientSecretFile?: string;
  /** A file of certificates in PEM. */
  readonly certificateAuthority?: string;
  /** The certificates themselves, in base64. */
  readonly certificateAuthorityData?: string;
  readonly sessionFile?: string;
}

/** What `login` prints to standard output. */
type Printed = 'credential' | 'token' | 'none';

/** How a person proves who they are: in the browser of this machine, in that of another device, or by a password typed here. */
type Way = 'browser' | 'device' | 'password';

/** How a sign-in is done. */
interface SignInOptions {
  /** `-` is standard input. */
  readonly passwordFile?: string;
  /** Default: `browser` where one can be opened, the server offers it and there is no password file; else `password`. */
  readonly way?: Way;
}

export interface LoginRequest extends LoginSessionOptions, SignInOptions {
  readonly action: 'login';
  /** Default: `credential` when KUBERNETES_EXEC_INFO is set, else `none`. */
  readonly print?: Printed;
}

export interface LogoutRequest extends LoginSessionOptions {
  readonly action: 'logout';
  /** Whether every session of the user is ended, not only this one. */
  readonly isAll: boolean;
}

export interface KubeconfigRequest extends LoginSessionOptions, SignInOptions {
  readonly action: 'kubeconfig';
  readonly namespace?: string;
  /** The name of cluster and context. */
  readonly name?: string;
  /** The program that clients run. */
  readonly command: string;
}

export type ClientRequest = LoginRequest | LogoutRequest | KubeconfigRequest;
export type ClientAction = ClientRequest['action'];

const SHARED = {
  server: { type: 'string' },
  username: { type: 'string' },
  'client-id': { type: 'string' },
  'client-secret-file': { type: 'string' },
  'certificate-authority': { type: 'string' },
  'certificate-authority-data': { type: 'string' },
  'session-file': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** The options that name a way to sign in, at most one of them. */
const WAYS = { browser: 'browser', 'no-browser': 'password', device: 'device' } as const;

const SIGN_IN = {
  'password-file': { type: 'string' },
  browser: { type: 'boolean' },
  'no-browser': { type: 'boolean' },
  device: { type: 'boolean' },
} as const;

/** The options of each command, as `parseArgs` takes them. */
const OPTIONS = {
  login: { ...SHARED, ...SIGN_IN, print: { type: 'string' } },
  logout: { ...SHARED, all: { type: 'boolean' } },
  kubeconfig: {
    ...SHARED,
    ...SIGN_IN,
    namespace: { type: 'string' },
    name: { type: 'string' },
    command: { type: 'string' },
  },
} as const;

/** The values of the options of all commands. */
interface Values {
  readonly [option: string]: string | boolean | undefined;
}

export const isClientAction = (word: string | undefined): word is ClientAction =>
  word !== undefined && Object.hasOwn(OPTIONS, word);

/** Parses the arguments after the command's name. Throws what `parseArgs` throws. */
export function parseClientRequest(
  action: ClientAction,
  args: readonly string[],
): ClientRequest | { readonly fault: string } | { readonly isHelp: true } {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS[action], allowPositionals: true });
  const given = values as Values;
  if (given['help']) return { isHelp: true };
  if (positionals.length > 0) return { fault: `${action} takes options only, not "${positionals.join(' ')}"` };
  const session = sessionOptions(action, given);
  if ('fault' in session) return session;
  if (action === 'logout') return { action, ...session, isAll: given['all'] === true };
  const signIn = signInOptions(given);
  if ('fault' in signIn) return signIn;
  return action === 'login'
    ? loginRequest(given, { ...session, ...signIn })
    : kubeconfigRequest(given, session, signIn);
}

function signInOptions(values: Values): SignInOptions | { readonly fault: string } {
  const passwordFile = path(values['password-file']);
  const ways = Object.keys(WAYS).filter((option) => values[option]) as (keyof typeof WAYS)[];
  const [option, second] = ways;
  if (second !== undefined) return { fault: `--${option} and --${second} do not go together` };
  const way = option && WAYS[option];
  if (passwordFile === undefined) return way === undefined ? {} : { way };
  return way === undefined || way === 'password'
    ? { passwordFile, ...(way && { way }) }
    : { fault: `--${option} and --password-file do not go together` };
}

function sessionOptions(action: ClientAction, values: Values): LoginSessionOptions | { readonly fault: string } {
  const { server } = values;
  if (typeof server !== 'string') return { fault: `${action} needs --server URL` };
  const address = toServer(server);
  if (address === undefined)
    return {
      fault: '--server is an http or https URL without user, query and fragment, like https://gatehouse.example.com',
    };
  const {
    username,
    'client-id': clientId = 'gatehouse',
    'certificate-authority-data': certificateAuthorityData,
  } = values as Record<string, string | undefined>;
  if (username === '' || clientId === '') return { fault: '--username and --client-id must not be empty' };
  const files = {
    clientSecretFile: path(values['client-secret-file']),
    certificateAuthority: path(values['certificate-authority']),
    sessionFile: path(values['session-file']),
  };
  if (files.certificateAuthority !== undefined && certificateAuthorityData !== undefined)
    return { fault: '--certificate-authority and --certificate-authority-data do not go together' };
  return onlyGiven({
    server: address,
    clientId,
    username,
    certificateAuthorityData,
    ...files,
  }) as unknown as LoginSessionOptions;
}

function loginRequest(
  values: Values,
  session: LoginSessionOptions & SignInOptions,
): LoginRequest | { readonly fault: string } {
  const { print } = values;
  if (print === undefined) return { action: 'login', ...session };
  if (print === 'credential' || print === 'token' || print === 'none') return { action: 'login', ...session, print };
  return { fault: '--print is credential, token or none' };
}

function kubeconfigRequest(
  values: Values,
  session: LoginSessionOptions,
  signIn: SignInOptions,
): KubeconfigRequest | { readonly fault: string } {
  if (signIn.passwordFile === '-')
    return { fault: 'the --password-file of a kubeconfig must be a file, not -: every sign-in reads it again' };
  const { namespace, name, command = 'gatehouse' } = values as Record<string, string | undefined>;
  const named = onlyGiven({ namespace, name });
  // A command with a slash is a path, which clients resolve from the kubeconfig's folder unless it is absolute.
  const program = command.includes('/') ? resolve(command) : command;
  return { action: 'kubeconfig', ...session, ...signIn, ...named, command: program };
}

/** Makes a path absolute, because the program that reads the kubeconfig runs in another folder. */
const path = (value: string | boolean | undefined): string | undefined =>
  typeof value !== 'string' || value === '-' ? (value as string | undefined) : resolve(value);

const onlyGiven = (values: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** The address in one spelling; `undefined` when the text is not an address of a server. */
function toServer(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (url.username || url.password || url.search || url.hash) return undefined;
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Whether the server is on this machine, so that plain HTTP cannot be read on the way. */
export function isLoopback(server: string): boolean {
  const { hostname } = new URL(server);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
