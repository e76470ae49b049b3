import type { IncomingMessage } from 'node:http';

/** The origins that are ours. */
export interface OwnOrigin {
  /** The address of the issuer, under which people know this server. */
  readonly issuer: string;
}

const READING: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);

/**
 * Whether a page of ours, in a browser, sends this request (W-01, W-02). Only then its cookie says who calls: a browser sends the cookie with
 * the requests of other sites too, and lets no other site set the header, unless we allowed it by CORS, which we never do.
 */
export function createPageRequestTest(platform: string, own: OwnOrigin): (request: IncomingMessage) => boolean {
  const header = pageHeader(platform);
  const isOwn = ownOriginTest(own);
  const isPlain = own.issuer.startsWith('http:');
  return ({ method, headers }) => {
    if (headers[header] !== '1' || headers.authorization !== undefined) return false;
    const { 'sec-fetch-site': site, origin, upgrade } = headers;
    const changes = !READING.has(method) || upgrade !== undefined;
    if (changes && !isOwn(origin, headers.host)) return false;
    if (site !== undefined) return site === 'same-origin';
    // Browsers send `Sec-Fetch-Site` over https and to localhost alone, and no `Origin` when a page reads from its own: with the header, every
    // other page sends one (https://fetch.spec.whatwg.org/#origin-header).
    return isOwn(origin, headers.host) || (isPlain && origin === undefined);
  };
}

/** The header that a page of ours sends with each request, in lower case. */
export const pageHeader = (platform: string): string => `x-${platform}-page`;

/** An origin is ours if it is the issuer's, or that of the address which the browser has sent the request to, in the issuer's scheme. */
function ownOriginTest({ issuer }: OwnOrigin): (origin: string | undefined, host: string | undefined) => boolean {
  const { origin: ofIssuer, protocol } = new URL(issuer);
  return (origin, host) =>
    origin !== undefined && (origin === ofIssuer || (host !== undefined && origin === `${protocol}//${host}`));
}
