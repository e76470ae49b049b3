/** Matches the host of a native app's own listener (RFC 8252 7.3), and splits off its port. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::\d{1,5})?($|[/?].*$)/;

/**
 * Whether the address is registered. It is compared byte by byte, because a URL parser could read two texts as one address. Only
 * for http on a loopback host may the port differ: the operating system chooses it when the app begins to listen (B-03).
 */
export function isRegistered(registered: readonly string[], given: string): boolean {
  if (registered.includes(given)) return true;
  const wanted = URL.canParse(given) ? withoutPort(given) : undefined; // a port has 65,535 as its highest number
  return wanted !== undefined && registered.some((one) => withoutPort(one) === wanted);
}

/** Matches an address whose pages have an origin of their own. Those of a private scheme have the origin `null`, as many others do. */
const WEB = /^https?:/;

/**
 * Returns a test for the origins of these addresses, in the form that browsers send (RFC 6454 6.2). An origin passes if an address
 * of it may be sent a code by `isRegistered`: a page that gets the code has to redeem it. So the port of a loopback origin may
 * differ as well. `undefined` if no address has an origin.
 */
export function createOriginTest(registered: readonly string[]): ((origin: string) => boolean) | undefined {
  const web = registered.filter((uri) => WEB.test(uri));
  const exact = new Set(web.map((uri) => new URL(uri).origin));
  const loopback = new Set(web.map((uri) => LOOPBACK.exec(uri)?.[1]).filter((host) => host !== undefined));
  const isLoopback = (origin: string): boolean => {
    const host = withoutPort(origin);
    return host !== undefined && loopback.has(host) && URL.canParse(origin) && new URL(origin).origin === origin;
  };
  return web.length === 0 ? undefined : (origin) => exact.has(origin) || isLoopback(origin);
}

function withoutPort(uri: string): string | undefined {
  const [, host, rest] = LOOPBACK.exec(uri) ?? [];
  return host === undefined ? undefined : `${host}${rest}`;
}
