import type { Chance } from '../fuzz/chance.ts';

/** A request as it is sent, and what must come of it. */
export interface MadeRequest {
  readonly text: string;
  readonly method: string;
  readonly target: string;
  /** Names in lower case and values of those that must go out besides ours, in their order. */
  readonly copied: readonly (readonly [string, string])[];
  readonly body: string;
  /** `passed`: it goes out. `refused`: 400 or 403, and nothing does. `either`: the parser may refuse it. */
  readonly fate: 'passed' | 'refused';
}

const SEGMENTS = [
  ...[
    'namespaces',
    'a',
    'pods',
    'x',
    'nodes',
    'services',
    'https:x:443',
    'log',
    'status',
    'scale',
    'watch',
    'v1',
    'apps',
  ],
  ...[
    '%61',
    'a%2Db',
    '%C3%A9',
    ';x=y',
    '~',
    '@',
    "'",
    '$(id)',
    '-1',
    '__proto__',
    'constructor',
    'a+b',
    '*',
    '!',
    'a,b',
    'a:b',
  ],
];
const BAD_SEGMENTS = [
  ...[
    '',
    '.',
    '..',
    '%2e',
    '%2E%2e',
    '.%2e',
    '%2f',
    'a%2Fb',
    '%5c',
    'a\\b',
    '%00',
    '%0d%0a',
    '%7f',
    '%',
    '%zz',
    '%f',
    '%c0%af',
    '%ff',
  ],
  ...['%ed%a0%80', 'Ã©', 'a#b', '|\xff', '%e2%28'],
];
const QUERIES = [
  ...[
    '',
    '?',
    '?watch=0',
    '?limit=1&limit=2',
    '?labelSelector=app%20in%20(a%2Cb),tier',
    '?x=%2e%2e/%2f//',
    '?a=%00',
    '??',
    '?&&=',
  ],
  ...['?namespace=kube-system', '?fieldSelector=metadata.name%3Dx', '?dryrun=All', '?pretty', '?%25', '?x=\\'],
];
/** Go drops these pairs, others read them: refused where a collection is asked for, and nobody else's business elsewhere. */
const ODD_QUERIES = ['?a=%zz&%00', '?&&=;', '?%', '?watch=1;', '?x=%ff'];
const COPIED = [
  ...[
    'Accept: */*',
    'accept: application/json;as=Table',
    'ACCEPT-ENCODING: gzip',
    'Accept-Language: x',
    'Content-Type: a/b',
  ],
  ...[
    'content-encoding: gzip',
    'User-Agent: kubectl/v1 (x) é',
    'If-Match: "1"',
    'If-None-Match: *',
    'Range: bytes=0-1',
  ],
  ...['Kubectl-Command: a', 'Kubectl-Session: b', 'If-Modified-Since: never', 'If-Unmodified-Since: \t', 'Accept:'],
];
const DROPPED = [
  ...[
    'X-Remote-User: root',
    'X-Remote-Group: system:masters',
    'X_Remote_User: root',
    'X-Forwarded-For: 9.9.9.9',
    'X-Forwarded-User: root',
  ],
  ...[
    'Forwarded: for=9.9.9.9',
    'X-Real-IP: 9.9.9.9',
    'Cookie: a=b',
    'Origin: null',
    'Proxy-Authorization: Basic eA==',
    'Te: trailers',
  ],
  ...[
    'Trailer: X',
    'Keep-Alive: timeout=1',
    'Upgrade: h2c',

    'HTTP2-Settings: AAMAAABk',
    'Audit-ID: forged',
    'X: y',
  ],
  ...[
    'Sec-WebSocket-Protocol: a',
    'X-Stream-Protocol-Version: v4',
    'Connection: impersonate-user, authorization',
    'Connection: upgrade',
  ],
  ...[
    'Traceparent: 00-x',
    'Tracestate: a=b',
    'accept_encoding: x',
    'Accept-Charset: x',
    'X-HTTP-Method-Override: DELETE',
    '__proto__: a',
  ],
];
/** Refused, whatever else is sent. */
const IMPERSONATING = [
  'Impersonate-User: root',
  'impersonate_user: root',
  'Impersonate-Group: system:masters',
  'Impersonate-Extra-a: b',
  'Impersonate-Uid: 1',
];
export const MOST_BODY_BYTES = 300_000;
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

const COLLECTION = '/apis/apps/v1/namespaces/a/deployments';
const ODD_PATHS = [COLLECTION, `${COLLECTION}/x`];
const OF_COLLECTIONS = new Set(['GET', 'HEAD', 'DELETE']);

/**
 * A request of somebody who is signed in, of parts that somebody has read in two ways, and what the rules say of it. The largest has
 * every good segment in its path and a body as long as any.
 */
export function makeRequest(chance: Chance, authorization: string, { isLargest = false } = {}): MadeRequest {
  const method = chance.one(METHODS);
  const isBad = !isLargest && chance.percent(30);
  const isOdd = !isLargest && !isBad && chance.percent(10);
  const path = isLargest ? ['/apis', ...SEGMENTS].join('/') : isOdd ? chance.one(ODD_PATHS) : makePath(chance, isBad);
  const target = path + chance.one(isOdd ? ODD_QUERIES : QUERIES);
  const copied = chance.some(5, () => chance.one(COPIED));
  const lines = [...copied, ...chance.some(chance.percent(2) ? 60 : 6, () => chance.one(DROPPED))];
  const body = isLargest ? chance.bytes(MOST_BODY_BYTES).padEnd(MOST_BODY_BYTES, '\xff') : makeBody(chance);
  if (!isLargest && chance.percent(15)) lines.push(chance.one(IMPERSONATING));
  const { framing, bytes } = frame(chance, body);
  const shuffled = lines.toSorted(() => (chance.percent(50) ? 1 : -1));
  const head = ['Host: gatehouse.example', `Authorization: ${authorization}`, ...shuffled, ...framing];
  const isOddCollection = isOdd && path === COLLECTION && OF_COLLECTIONS.has(method);
  const isSomebodyElse = lines.some((line) => /^impersonate/i.test(line));
  const fate = isBad || isSomebodyElse || isOddCollection || /\/proxy(\/|$)/.test(path) ? 'refused' : 'passed';
  const pairs = shuffled.filter((line) => copied.includes(line)).map(toPair);
  return {
    text: `${method} ${target} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${bytes}`,
    method,
    target,
    copied: pairs,
    body,
    fate,
  };
}

const makeBody = (chance: Chance): string =>
  chance.percent(60) ? '' : chance.bytes(chance.percent(2) ? MOST_BODY_BYTES : 300);

function makePath(chance: Chance, isBad: boolean): string {
  const segments = Array.from({ length: chance.count(0, 7) }, () =>
    chance.percent(80) ? chance.one(SEGMENTS) : encodeURIComponent(chance.word(30)),
  );
  if (isBad) segments.splice(chance.count(0, segments.length), 0, chance.one(BAD_SEGMENTS), chance.one(SEGMENTS));
  if (!isBad && chance.percent(3)) return `/api/v1/nodes/x/proxy${chance.one(['', '/', '/pods'])}`;
  const slash = !isBad && chance.percent(10) ? '/' : '';
  return [chance.one(['/api', '/apis', '/api/v1', '/apis/apps/v1', '/openapi/v3']), ...segments].join('/') + slash;
}

/** The body by its length, in chunks of any size, or none. */
function frame(chance: Chance, body: string): { readonly framing: readonly string[]; readonly bytes: string } {
  if (body === '') return { framing: chance.percent(30) ? ['Content-Length: 0'] : [], bytes: '' };
  if (chance.percent(50)) return { framing: [`Content-Length: ${body.length}`], bytes: body };
  let [rest, bytes] = [body, ''];
  while (rest !== '') {
    const size = chance.count(1, chance.percent(50) ? 20 : 100_000);
    const piece = rest.slice(0, size);
    bytes += `${piece.length.toString(16)}\r\n${piece}\r\n`;
    rest = rest.slice(size);
  }
  return {
    framing: [chance.one(['Transfer-Encoding: chunked', 'transfer-encoding: Chunked'])],
    bytes: `${bytes}0\r\n\r\n`,
  };
}

const toPair = (line: string): readonly [string, string] => [
  line.slice(0, line.indexOf(':')).toLowerCase(),
  line.slice(line.indexOf(':') + 1).trim(),
];
