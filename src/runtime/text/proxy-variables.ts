import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment sets for a server, by the rules of every Go program (golang.org/x/net/http/httpproxy):
 * `HTTPS_PROXY`, `HTTP_PROXY` for a server without TLS, and `NO_PROXY`, in upper or lower case. Loopback addresses never use a
 * proxy. Throws an `Error` that says why a proxy cannot be used; Go would ignore it silently. `schemes` are the schemes of proxies
 * that our caller can use.
 */
export function environmentProxy(environment: Environment, server: URL, schemes = ONLY_HTTP): URL | undefined {
  const isTls = server.protocol === 'https:';
  const name = isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const address = named(environment, name);
  if (address === '') return undefined;
  // The header `Proxy` of a request would be HTTP_PROXY of a CGI program (https://golang.org/s/cgihttpproxy).
  if (!isTls && named(environment, 'REQUEST_METHOD', []) !== '')
    throw new Error('has HTTP_PROXY and REQUEST_METHOD, so a request may have set HTTP_PROXY: it is not used');
  if (isExcepted(server, named(environment, 'NO_PROXY'))) return undefined;
  return proxyAt(address.includes('://') ? address : `http://${address}`, name, schemes);
}

const ONLY_HTTP: readonly string[] = ['http'];

/** A scheme, a name and password, a host, a port and a path, without characters that parsers read differently. */
const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/([^\s/?#@[\]\\]*@)?([^\s/?#@:[\]\\]+|\[[0-9a-f:.]+\])(:\d*)?(\/[^\s\\]*)?$/i;

/**
 * Reads the address of a proxy from the value of `setting`. Its errors never quote the value, which may hold a
 * password.
 */
export function proxyAt(address: string, setting: string, schemes = ONLY_HTTP): URL {
  const [, scheme = ''] = ADDRESS.exec(address) ?? [];
  const proxy = scheme !== '' && URL.canParse(address) ? new URL(address) : undefined;
  if (!proxy || !hasReadablePassword(proxy)) throw new Error(`has no valid proxy address in ${setting}`);
  if (schemes.includes(scheme.toLowerCase())) return proxy;
  const usable = schemes.map((one) => `${one}://`).join(' or ');
  throw new Error(`names a proxy with ${proxy.protocol}// in ${setting}; only ${usable} can be used`);
}

function hasReadablePassword({ username, password }: URL): boolean {
  try {
    return typeof decodeURIComponent(username + password) === 'string';
  } catch {
    return false;
  }
}

const named = (environment: Environment, name: string, others = [name.toLowerCase()]): string =>
  [name, ...others].map((one) => environment[one] ?? '').find((value) => value !== '') ?? '';

function isExcepted(server: URL, exceptions: string): boolean {
  const host = server.hostname.replace(/^\[(.*)\]$/, '$1');
  const address = addressOf(host);
  if (host === 'localhost' || (address && isLoopback(address))) return true;
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  const entries = exceptions.split(',').map((entry) => entry.trim().toLowerCase());
  if (entries.includes('*')) return true;
  return entries.some((entry) => entry !== '' && isNamed(entry, { host, port, address }));
}

/** The bytes of an address: 4 for IPv4, also if it is written as IPv6 (`::ffff:10.0.0.1`), else 16. */
type Address = readonly number[];

interface Target {
  readonly host: string;
  readonly port: string;
  readonly address: Address | undefined;
}

function isNamed(entry: string, { host, port, address }: Target): boolean {
  const network = networkOf(entry);
  if (network) return address !== undefined && contains(network, address);
  const [name, itsPort] = splitPort(entry);
  if (itsPort !== '' && itsPort !== port) return false;
  const itsAddress = addressOf(name);
  if (itsAddress) return address !== undefined && itsAddress.join() === address.join();
  return name !== '' && address === undefined && isBelow(name, host);
}

/**
 * `example.com` names itself and everything below it; `.example.com` and `*.example.com` only what is below. A name
 * beyond ASCII is compared in the form that DNS has.
 */
function isBelow(name: string, host: string): boolean {
  const suffix = name.startsWith('*.') ? name.slice(1) : name;
  const [, dot = '', rest = ''] = /^(\.?)(.*)$/s.exec(suffix) ?? [];
  const ascii = /^[ -~]*$/.test(rest) ? rest : domainToASCII(rest) || rest;
  return host.endsWith(`.${ascii}`) || (dot === '' && host === ascii);
}

/**
 * Splits off a port as Go's `net.SplitHostPort` does. If that finds no port, the whole text is the name: for example an IPv6
 * address in brackets, which then matches no host.
 */
function splitPort(entry: string): readonly [name: string, port: string] {
  const [, name = '', port = ''] =
    /^\[([^\]]*)\]:([^:[\]]*)$/.exec(entry) ?? /^([^:[\]]*):([^:[\]]*)$/.exec(entry) ?? [];
  return name === '' && port === '' && !/^(\[\])?:$/.test(entry) ? [entry, ''] : [name, port];
}

interface Network {
  readonly address: Address;
  readonly bits: number;
}

/**
 * Reads `10.0.0.0/8` or `fd00::/8`. A network written as IPv6 (`::ffff:10.0.0.0/104`) counts as IPv4 if its prefix has at least 96
 * bits.
 */
function networkOf(entry: string): Network | undefined {
  const [, text = '', digits = ''] = /^([^/]+)\/(\d+)$/.exec(entry) ?? [];
  const address = addressOf(text);
  const bits = Number(digits);
  if (!address || bits > (isIPv4(text) ? 32 : 128)) return undefined;
  if (isIPv4(text) || address.length > 4) return { address, bits };
  return bits < 96 ? { address: bytesOfIPv6(text), bits } : { address, bits: bits - 96 };
}

const contains = ({ address, bits }: Network, other: Address): boolean =>
  address.length === other.length && bitsOf(address).slice(0, bits) === bitsOf(other).slice(0, bits);

const bitsOf = (address: Address): string => address.map((byte) => byte.toString(2).padStart(8, '0')).join('');

const isLoopback = (address: Address): boolean =>
  address.length === 4 ? address[0] === 127 : bitsOf(address) === '1'.padStart(128, '0');

function addressOf(text: string): Address | undefined {
  if (isIPv4(text)) return text.split('.').map(Number);
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const bytes = bytesOfIPv6(text);
  const isIPv4Inside = bytes.slice(0, 12).join() === '0,0,0,0,0,0,0,0,0,0,255,255';
  return isIPv4Inside ? bytes.slice(12) : bytes;
}

/** The URL parser writes every address in one form, without dotted decimals. */
function bytesOfIPv6(text: string): number[] {
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const groups = (part: string): string[] => part.split(':').filter((group) => group !== '');
  const [first, last] = [groups(head), groups(tail ?? '')];
  const all = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last];
  return all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]);
}
