import { expect, test } from 'vitest';
import { copiedHeaders } from '../../../src/gateway/request-headers.ts';

const CONTROLS = [...Array(32).keys(), 127].filter((code) => code !== 9).map((code) => String.fromCharCode(code));
const COPIED = ['Accept', 'user-agent', 'If-Match', 'Range', 'Kubectl-Command', 'traceparent', 'Tracestate'];

test.each(COPIED)('a control character in %s is found, whatever the parser before us lets through', (name) => {
  for (const control of CONTROLS)
    expect(copiedHeaders(['Accept', 'x', name, `a${control}b`], { isUpgrade: false })).toEqual({
      badHeader: name.toLowerCase(),
    });
});

test('of upgrades too', () => {
  for (const control of CONTROLS)
    expect(copiedHeaders(['Sec-WebSocket-Key', control], { isUpgrade: true })).toEqual({
      badHeader: 'sec-websocket-key',
    });
});

test('a tab, what is above ASCII, and a header that is not copied are no reason', () => {
  const headers = ['Accept', 'a\tb', 'User-Agent', 'é', 'X-Anything', '\x07'];
  expect(copiedHeaders(headers, { isUpgrade: false })).toEqual(headers.slice(0, 4));
});

const NEEDED = [
  ...['Accept', 'Accept-Encoding', 'Accept-Language', 'Content-Type', 'Content-Encoding', 'User-Agent', 'If-Match'],
  ...['If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since', 'Range', 'Kubectl-Command', 'Kubectl-Session'],
];
const OF_UPGRADES = [
  ...['Sec-WebSocket-Key', 'Sec-WebSocket-Version', 'Sec-WebSocket-Extensions', 'X-Stream-Protocol-Version'],
];

test('A-28 what the cluster needs goes on, of upgrades some more, and nothing besides', () => {
  const others = ['Authorization', 'Cookie', 'Host', 'Connection', 'X-Anything', 'Sec-WebSocket-Protocol', ''];
  const sent = [...NEEDED, ...OF_UPGRADES, ...others].flatMap((name) => [name, 'a']);
  const namesOf = (isUpgrade: boolean) => {
    const copied = copiedHeaders(sent, { isUpgrade });
    return Array.isArray(copied) ? copied.filter((_, index) => index % 2 === 0) : copied;
  };
  expect(namesOf(false)).toEqual(NEEDED);
  expect(namesOf(true)).toEqual([...NEEDED, ...OF_UPGRADES]);
});

const [TRACE, SPAN] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const PARENT = `00-${TRACE}-${SPAN}-01`;

test('a trace goes on behind the others, with all of its states, if it is one and the only one', () => {
  const state = ['tracestate', 'a=1', 'tracestate', 'b=2'];
  const copied = (...parents: readonly string[]) =>
    copiedHeaders([...parents.flatMap((parent) => ['traceparent', parent]), ...state, 'Accept', 'x'], {
      isUpgrade: false,
    });
  expect(copied(PARENT)).toEqual(['Accept', 'x', 'Traceparent', PARENT, 'Tracestate', 'a=1', 'Tracestate', 'b=2']);
  const zeros = [PARENT.replace(TRACE, '0'.repeat(32)), PARENT.replace(SPAN, '0'.repeat(16))];
  for (const bad of ['', 'x', `01${PARENT.slice(2)}`, `${PARENT}-01`, PARENT.toUpperCase(), ...zeros])
    expect(copied(bad)).toEqual(['Accept', 'x']);
  for (const parents of [[], [PARENT, PARENT]]) expect(copied(...parents)).toEqual(['Accept', 'x']);
});
