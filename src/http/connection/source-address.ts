import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { RecentReports } from '../../runtime/recent-reports.ts';
import { unmapped } from '../../runtime/source-address.ts';
import type { HttpMetrics } from '../metrics.ts';

/** A proxy whose header we believe. */
export interface TrustedProxy {
  /** `10.0.0.0/8`, `2001:db8::/32`, or a single address. */
  readonly cidr: string;
  /** Case-insensitive, e.g. `X-Forwarded-For` (a list) or `X-Real-IP`. */
  readonly header: string;
}

interface Hop {
  readonly proxy: TrustedProxy;
  readonly addresses: BlockList;
  readonly header: string;
}

/** Called when a trusted proxy has sent its header, but the header names no address. */
type OnUnreadable = (proxy: TrustedProxy) => void;

/**
 * Finds the full address of a caller. It is the socket's address, unless that is a trusted proxy. Then it is the rightmost address in
 * the proxy's header that is not a trusted proxy, or the socket's if the header cannot be read. An IPv4-mapped address is IPv4.
 */
export function createCallerAddress(
  proxies: readonly TrustedProxy[],
  onUnreadable: OnUnreadable = () => {},
): (request: IncomingMessage) => string {
  const hops = proxies.map(toHop);
  const hopOf = (address: string): Hop | undefined => hops.find((hop) => contains(hop.addresses, address));
  return (request) => {
    const socket = request.socket.remoteAddress ?? '';
    if (hops.length === 0) return plain(socket);
    const hop = hopOf(unmapped(socket));
    const claimed = hop && request.headers[hop.header];
    if (!hop || claimed === undefined) return plain(socket);
    const addresses = String(claimed).split(',').map(toAddress).reverse();
    const caller = addresses.find((address) => !hopOf(address)) ?? addresses.at(-1);
    if (caller && isIP(caller)) return plain(caller);
    onUnreadable(hop.proxy);
    return plain(socket);
  };
}

/** Counts headers that cannot be read, and logs one a minute for each proxy. It does not log their text, which may be anything. */
export function createUnreadableReport({
  clock,
  logger,
  metrics,
}: {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<HttpMetrics, 'forwardedUnreadable'>;
}): OnUnreadable {
  const reports = new RecentReports(clock);
  return ({ cidr, header }) => {
    metrics.forwardedUnreadable(header);
    if (!reports.isNews(`${cidr} ${header}`)) return;
    const message = 'the header of a trusted proxy names no address, so its callers count as the proxy itself';
    logger.warn({ proxy: cidr, header }, message);
  };
}

/** An IPv4 address or a bracketed IPv6 one, with or without a port, as some proxies write them (RFC 3986 3.2.2, 3.2.3). */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([\da-f:.]+(?:%[\w.-]+)?)\])(?::\d{0,5})?$/i;

/** The address in one member of the header, without port and brackets. The result is not an address if the member has none. */
function toAddress(member: string): string {
  const text = member.trim();
  const [, v4, v6] = WITH_PORT.exec(text) ?? [];
  if (v6 !== undefined && isIP(v6) !== 6) return text;
  return unmapped(v4 ?? v6 ?? text);
}

function toHop(proxy: TrustedProxy): Hop {
  const { cidr, header } = proxy;
  const [network = '', prefix] = cidr.split('/');
  const addresses = new BlockList();
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  addresses.addSubnet(network, prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix), family);
  return { proxy, addresses, header: header.toLowerCase() };
}

function contains(addresses: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && addresses.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Removes the zone, which names an interface of this machine (RFC 4007 11). */
const plain = (address: string): string => unmapped(address).split('%')[0] as string;
