import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** A proxy whose header is believed. */
export interface TrustedProxy {
  /** `10.0.0.0/8`, `2001:db8::/32`, or a single address. */
  readonly cidr: string;
  /** Case-insensitive, e.g. `X-Forwarded-For` (a list) or `X-Real-IP`. */
  readonly header: string;
}

interface Hop {
  readonly addresses: BlockList;
  readonly header: string;
}

/**
 * Finds the address of a caller, normalised: the socket's, or the one in the header of a trusted proxy, where the
 * rightmost address that is not itself trusted counts. If that cannot be read, the socket's counts.
 */
export function createSourceAddress(proxies: readonly TrustedProxy[]): (request: IncomingMessage) => string {
  const hops = proxies.map(toHop);
  const hopOf = (address: string): Hop | undefined => hops.find((hop) => contains(hop.addresses, address));
  return (request) => {
    const socket = request.socket.remoteAddress ?? '';
    if (hops.length === 0) return normaliseAddress(socket);
    const hop = hopOf(unmapped(socket));
    const claimed = hop && request.headers[hop.header];
    if (!claimed) return normaliseAddress(socket);
    const addresses = String(claimed)
      .split(',')
      .map((text) => unmapped(text.trim()))
      .reverse();
    const caller = addresses.find((address) => !hopOf(address)) ?? addresses.at(-1);
    return normaliseAddress(caller && isIP(caller) ? caller : socket);
  };
}

function toHop({ cidr, header }: TrustedProxy): Hop {
  const [network = '', prefix] = cidr.split('/');
  const addresses = new BlockList();
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  addresses.addSubnet(network, prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix), family);
  return { addresses, header: header.toLowerCase() };
}

function contains(addresses: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && addresses.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** RFC 4291 2.5.5.2, with the last 32 bits in either notation. */
const MAPPED = /^(?:::|(?:0{1,4}:){5})ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i;

/** `::ffff:192.0.2.1` is how a dual-stack socket names an IPv4 peer; a proxy may write `::ffff:c000:201`. */
const unmapped = (address: string): string => {
  const [, dotted, high, low] = MAPPED.exec(address) ?? [];
  if (dotted !== undefined || high === undefined || low === undefined) return dotted ?? address;
  const bits = [high, low].map((group) => Number.parseInt(group, 16));
  return bits.flatMap((group) => [group >> 8, group & 255]).join('.');
};

/** IPv4 as it is; IPv6 as its /64, since one caller commonly holds all of it. */
export function normaliseAddress(address: string): string {
  if (!address.includes(':')) return address;
  const plain = unmapped(address);
  if (!plain.includes(':')) return plain;
  const [head = '', tail = ''] = (plain.split('%')[0] as string).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const middle = Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(middle).fill('0'), ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
