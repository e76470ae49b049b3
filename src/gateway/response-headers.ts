/**
 * What is not passed on: what belongs to one connection (RFC 9110 7.6.1), what makes a browser trust or remember another
 * server's words, and what every answer of ours says itself.
 */
const DROPPED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'set-cookie',
  'set-cookie2',
  'www-authenticate',
  'clear-site-data',
  'alt-svc',
  'nel',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'public-key-pins',
  'x-request-id',
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
  'content-security-policy',
  'strict-transport-security',
]);

/** What a field value may be made of (RFC 9110 5.5): anything else could end the header early. */
const PERMITTED = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The headers of the cluster's answer that the caller gets: names and values in turn. `undefined`: they cannot be sent. */
export function passedHeaders(rawHeaders: readonly string[]): readonly string[] | undefined {
  const named = namedByConnection(rawHeaders);
  const passed: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    const word = name.toLowerCase();
    if (!PERMITTED.test(value)) return undefined;
    if (DROPPED.has(word) || word.startsWith('access-control-') || named?.has(word)) continue;
    passed.push(name, value);
  }
  return passed;
}

/** The headers that the upstream's own `Connection` takes for itself. */
function namedByConnection(rawHeaders: readonly string[]): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== 'connection') continue;
    named ??= new Set();
    for (const word of (rawHeaders[index + 1] as string).toLowerCase().split(',')) named.add(word.trim());
  }
  // The length frames the body between us and the caller as well: nobody may take it away.
  named?.delete('content-length');
  return named;
}
