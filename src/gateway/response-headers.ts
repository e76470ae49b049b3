/**
 * The headers that are passed on; every other header is dropped (docs/contract/gateway.md, section 3). We list allowed headers and not
 * forbidden ones, because an answer may come from any backend, and new headers with effects on browsers and proxies appear all the
 * time. The headers that clients of Kubernetes read are known.
 */
const PASSED: ReadonlySet<string> = new Set([
  // The body:
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-disposition',
  'content-range',
  'accept-ranges',
  'date',
  // Caching:
  'cache-control',
  'etag',
  'last-modified',
  'expires',
  'age',
  'vary',
  // The next request:
  'location',
  'retry-after',
  'allow',
  // Shown by kubectl, or looked for by operators: https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
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

/** The characters of a field value (RFC 9110 5.5): any other could end the header early (A-29, docs/promises.md). */
const PERMITTED = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The headers of the cluster's answer that the caller gets, as names and values. `undefined`: a value has a forbidden character. */
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

/** The headers that the cluster's `Connection` header names, which are meant for the connection to us only (RFC 9110 7.6.1). */
function namedByConnection(rawHeaders: readonly string[]): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== 'connection') continue;
    named ??= new Set();
    for (const word of (rawHeaders[index + 1] as string).toLowerCase().split(',')) named.add(word.trim());
  }
  // Content-Length also frames the body between us and the caller, so `Connection` must not remove it.
  named?.delete('content-length');
  return named;
}
