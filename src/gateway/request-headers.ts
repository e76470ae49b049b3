/** The client's headers that are copied; every other header is dropped (docs/contract/gateway.md, section 3). */
const COPIED: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'content-encoding',
  'user-agent',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'range',
  'kubectl-command',
  'kubectl-session',
]);

/** Headers that are copied only for upgrades. `Sec-WebSocket-Protocol` is not copied but written anew, without the bearer token. */
const COPIED_ON_UPGRADES: ReadonlySet<string> = new Set([
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-extensions',
  'x-stream-protocol-version',
]);

/** W3C Trace Context: version 00, a trace id and a parent id that are not zero, flags. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A tab is the only control character that a field value may have (RFC 9110 5.5). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Names the first copied header whose value has a control character. */
export interface BadHeader {
  readonly badHeader: string;
}

/** The client's headers that are sent to the cluster: each name followed by its value, as received. */
export function copiedHeaders(
  rawHeaders: readonly string[],
  { isUpgrade }: { readonly isUpgrade: boolean },
): readonly string[] | BadHeader {
  const copied: string[] = [];
  const trace: Record<'traceparent' | 'tracestate', string[]> = { traceparent: [], tracestate: [] };
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    const word = name.toLowerCase();
    const isTrace = word === 'traceparent' || word === 'tracestate';
    if (!isTrace && !COPIED.has(word) && !(isUpgrade && COPIED_ON_UPGRADES.has(word))) continue;
    if (CONTROL.test(value)) return { badHeader: word };
    if (isTrace) trace[word].push(value);
    else copied.push(name, value);
  }
  const [parent] = trace.traceparent;
  if (trace.traceparent.length === 1 && parent !== undefined && TRACEPARENT.test(parent)) {
    copied.push('Traceparent', parent);
    for (const state of trace.tracestate) copied.push('Tracestate', state);
  }
  return copied;
}
