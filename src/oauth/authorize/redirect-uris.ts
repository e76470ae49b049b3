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

function withoutPort(uri: string): string | undefined {
  const [, host, rest] = LOOPBACK.exec(uri) ?? [];
  return host === undefined ? undefined : `${host}${rest}`;
}
