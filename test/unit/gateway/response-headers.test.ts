import { expect, test } from 'vitest';
import { passedHeaders } from '../../../src/gateway/response-headers.ts';

test('A-29 an answer with a control character in any header is not passed on, whatever the parser before us lets through', () => {
  for (const control of ['\0', '\x07', '\n', '\r', '\x1f', '\x7f', '\u0100'])
    for (const name of ['ETag', 'X-Anything'])
      expect(passedHeaders(['Date', 'x', name, `a${control}b`])).toBeUndefined();
  expect(passedHeaders(['ETag', 'a\tb é'])).toEqual(['ETag', 'a\tb é']);
});

const PASSED = [
  ...['Content-Type', 'Content-Length', 'Content-Encoding', 'Content-Language', 'Content-Disposition', 'Content-Range'],
  ...['Accept-Ranges', 'Date', 'Cache-Control', 'ETag', 'Last-Modified', 'Expires', 'Age', 'Vary', 'Location'],
  ...['Retry-After', 'Allow', 'Warning', 'Audit-Id', 'X-Kubernetes-Pf-Flowschema-Uid'],
  ...['X-Kubernetes-Pf-Prioritylevel-Uid', 'Sec-WebSocket-Accept', 'Sec-WebSocket-Extensions'],
  ...['Sec-WebSocket-Protocol', 'X-Stream-Protocol-Version', 'X-Accepted-Stream-Protocol-Versions'],
];

test('A-29 what clients of the cluster read comes back, in its order and as often as it was sent, and nothing else', () => {
  const others = ['Set-Cookie', 'WWW-Authenticate', 'Keep-Alive', 'Connection', 'X-Anything', 'Warning'];
  const sent = [...PASSED, ...others].flatMap((name) => [name, 'a']);
  expect(passedHeaders(sent)).toEqual([...PASSED, 'Warning'].flatMap((name) => [name, 'a']));
});

test('what its own Connection names stays behind, but for the length', () => {
  const connection = ['Connection', 'close', 'connection', 'ETAG , Vary,content-length'];
  const sent = ['ETag', '1', 'Vary', 'x', 'Content-Length', '2', ...connection, 'Age', '3'];
  expect(passedHeaders(sent)).toEqual(['Content-Length', '2', 'Age', '3']);
});
