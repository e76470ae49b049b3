import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { unmapped } from '../../runtime/source-address.ts';

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
 * Finds the whole address of a caller, an IPv4 address as such: the socket's, or the one in the header of a trusted proxy, where the
 * rightmost address that is not itself trusted counts. If that cannot be read, the socket's counts.
 */
export function createCallerAddress(proxies: readonly TrustedProxy[]): (request: IncomingMessage) => string {
  const hops = proxies.map(toHop);
  const hopOf = (address: string): Hop | undefined => hops.find((hop) => contains(hop.addresses, address));
  return (request) => {
    const socket = request.socket.remoteAddress ?? '';
    if (hops.length === 0) return plain(socket);
    const hop = hopOf(unmapped(socket));
    const claimed = hop && request.headers[hop.header];
    if (!claimed) return plain(socket);
    const addresses = String(claimed)
      .split(',')
      .map((text) => unmapped(text.trim()))
      .reverse();
    const caller = addresses.find((address) => !hopOf(address)) ?? addresses.at(-1);
    return plain(caller && isIP(caller) ? caller : socket);
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

/** Without the zone, which names an interface of this machine (RFC 4007 11). */
const plain = (address: string): string => unmapped(address).split('%')[0] as string;
