/**
 * What is passed on when it is there; everything else is dropped (docs/contract/gateway.md, section 3). New headers are
 * invented all the time that make browsers, or proxies between us and the client, do or remember something; an answer may be
 * that of any backend. What clients of the cluster read is known.
 */
const PASSED: ReadonlySet<string> = new Set([
  // What the body is.
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-disposition',
  'content-range',
  'accept-ranges',
  'date',
  // Whether it may be used again.
  'cache-control',
  'etag',
  'last-modified',
  'expires',
  'age',
  'vary',
  // What to do next.
  'location',
  'retry-after',
  'allow',
  // What kubectl shows, and operators look for: https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
  'warning',
  'audit-id',
  'x-kubernetes-pf-flowschema-uid',
  'x-kubernetes-pf-prioritylevel-uid',
  // Headers of an upgrade:
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'x-stream-protocol-version',
  'x-accepted-stream-protocol-versions',
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
    if (PASSED.has(word) && !named?.has(word)) passed.push(name, value);
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
