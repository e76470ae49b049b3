import { BlockList, isIP, isIPv6 } from 'node:net';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment sets for a server, by the rules of every Go program (golang.org/x/net/http/httpproxy):
 * `HTTPS_PROXY`, `HTTP_PROXY` for a server without TLS, and `NO_PROXY`, in upper or lower case. Loopback addresses
 * never use a proxy. Throws an `Error` that says why a proxy cannot be used.
 */
export function environmentProxy(environment: Environment, server: URL): URL | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const address = named(environment, name);
  if (address === '' || isExcepted(server, named(environment, 'NO_PROXY'))) return undefined;
  return proxyAt(address.includes('://') ? address : `http://${address}`, name);
}

/**
 * Reads the address of a proxy from the value of `setting`. Its errors never quote the value, which may hold a
 * password.
 */
export function proxyAt(address: string, setting: string): URL {
  const proxy = URL.canParse(address) ? new URL(address) : undefined;
  if (proxy === undefined || !hasReadablePassword(proxy)) throw new Error(`names no address of a proxy in ${setting}`);
  if (proxy.protocol === 'http:') return proxy;
  throw new Error(`names a proxy by ${proxy.protocol}// in ${setting}; only one by http:// can be used`);
}

function hasReadablePassword({ username, password }: URL): boolean {
  try {
    return typeof decodeURIComponent(username + password) === 'string';
  } catch {
    return false;
  }
}

const named = (environment: Environment, name: string): string =>
  (environment[name] || environment[name.toLowerCase()] || '').trim();

function isExcepted(server: URL, exceptions: string): boolean {
  const host = unbracketed(server.hostname);
  if (host === 'localhost' || isLoopback(host)) return true;
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  const entries = exceptions.split(',').map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry === '*' || isInNetwork(host, entry) || isNamedBy(entry, host, port));
}

const unbracketed = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');
const family = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const isLoopback = (host: string): boolean => isIP(host) !== 0 && LOOPBACK.check(host, family(host));

/** `10.0.0.0/8`. */
function isInNetwork(host: string, entry: string): boolean {
  const [address = '', bits = '', more] = entry.split('/');
  if (isIP(host) === 0 || isIP(address) === 0 || !/^\d{1,3}$/.test(bits) || more !== undefined) return false;
  if (Number(bits) > (isIPv6(address) ? 128 : 32)) return false;
  const network = new BlockList();
  network.addSubnet(address, Number(bits), family(address));
  return network.check(host, family(host));
}

/**
 * `example.com` matches itself and all names below it; `.example.com` and `*.example.com` match only the names below
 * it. Each may have a port.
 */
function isNamedBy(entry: string, host: string, port: string): boolean {
  const [name, entryPort] = isIPv6(entry) ? [entry] : splitPort(entry);
  if (name === '' || (entryPort !== undefined && entryPort !== port)) return false;
  if (isIP(host) !== 0 || isIP(name) !== 0) return isInNetwork(host, `${name}/${isIPv6(name) ? 128 : 32}`);
  const below = name.replace(/^\*?\./, '.');
  return below.startsWith('.') ? host.endsWith(below) : host === below || host.endsWith(`.${below}`);
}

function splitPort(entry: string): readonly [string, string?] {
  const [, name, port] = /^(.*):(\d+)$/.exec(entry) ?? [undefined, entry, undefined];
  return port === undefined ? [unbracketed(name ?? '')] : [unbracketed(name ?? ''), port];
}
