/** The server of a kubeconfig. */
export interface ServerAddress {
  /** The URL of the server, with its path prefix, if any, and without a slash at the end. */
  readonly server: string;
  /** Whether it is plain http. */
  readonly isPlain: boolean;
  /** Whether it is this machine. */
  readonly isLoopback: boolean;
  /** The address as Kubernetes' own clients pass it to an exec plugin. */
  readonly asWritten: string;
}

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
/**
 * A host, a port and a path that every URL parser reads alike. Parsers of the WHATWG URL standard change `127.1`, `\` and `%2F` or
 * remove parts of a path, and Go's does not.
 */
const ADDRESS =
  /^https?:\/\/([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?((?:\/[A-Za-z0-9._~!$&'()*+,;=:@-]+)*)\/?([?#].*)?$/;
const DOTS = /\/\.{1,2}(\/|$)/;

/** Parses the address of a server. Throws an `Error` that says what is wrong with it and does not quote it. */
export function parseServerAddress(text: string): ServerAddress {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) throw new Error('names its server without https://');
  if (scheme !== 'https' && scheme !== 'http')
    throw new Error(`names its server by ${scheme}://; only https:// can be used`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && url.username + url.password !== '')
    throw new Error('has a name or a password in its server address; write them into its user');
  const [, host, , path = ''] = ADDRESS.exec(text) ?? [];
  if (!url || host === undefined || DOTS.test(path) || !isSameHost(host, url.hostname))
    throw new Error(`has a server address that cannot be used${remedyFor(text)}`);
  return {
    server: url.origin + url.pathname.replace(/\/$/, ''),
    isPlain: scheme === 'http',
    isLoopback: isLoopback(url.hostname),
    asWritten: path === '' ? text : text.replace(/[?#].*/, ''),
  };
}

/** The end of the error's sentence: what is wrong and what to write instead, if that is known. */
function remedyFor(text: string): string {
  const [scheme = ''] = /^\w+:\/\//.exec(text) ?? [];
  if (scheme !== scheme.toLowerCase()) return `: its scheme is not in small letters; write ${scheme.toLowerCase()}`;
  return /^[^?#]*\/\//.test(text.slice(scheme.length)) ? ': its path has "//"; write one slash' : '';
}

/** Whether the parser has not changed the host. An IPv6 address has several spellings; a name or an IPv4 address differs only in case. */
const isSameHost = (written: string, read: string): boolean =>
  written.startsWith('[') || written.toLowerCase() === read;

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
