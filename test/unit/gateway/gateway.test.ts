import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { CallerPolicy } from '../../../src/gateway/caller.ts';
import { Gateway, type GatewayCall } from '../../../src/gateway/gateway.ts';
import { GatewayMetrics } from '../../../src/gateway/metrics.ts';
import { foreignOrigin, rightEnded } from '../../../src/gateway/refusals.ts';
import type { Passage } from '../../../src/kubernetes/passage/passage.ts';
import { PassageError, type PassageFault } from '../../../src/kubernetes/passage/passed-call.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const CALL: GatewayCall = {
  ...{
    caller: { name: 'ada', groups: ['dev'] },
    kind: 'object',
    isProxied: false,
    method: 'GET',
    target: '/api',
    address: '127.0.0.1',
  },
  ...{ requestId: 'r', auditId: 'a', rawHeaders: ['Accept', 'x'] },
};
const UPGRADE = { ...CALL, kind: 'exec' as const, protocol: 'websocket' as const, subprotocols: [] };
const ANSWER = { start: () => {}, data: () => undefined };
const { signal } = new AbortController();

/** A gateway whose calls end so. */
function start(error?: unknown) {
  const metrics = new GatewayMetrics(new Registry());
  const refused: string[] = [];
  metrics.refused = (reason) => void refused.push(reason);
  const sent: unknown[] = [];
  const send = async (call: unknown): Promise<undefined> => {
    sent.push(call);
    if (error !== undefined) throw error;
  };
  const passage: Pick<Passage, 'origin' | 'send' | 'upgrade'> = { origin: 'https://a', send, upgrade: send };
  const gateway = new Gateway(
    { allowProxySubresources: false, impersonation: 'refuse', unknownGroups: 'refuse' },
    {
      passage: passage as Passage,
      policy: new CallerPolicy({ platform: 'gatehouse', names: [] }),
      metrics,
      clock: new FakeClock(),
      onReserved: () => {},
      onLeftOut: () => {},
    },
  );
  const both = [
    (call: GatewayCall) => gateway.forward(call, ANSWER, signal),
    (call: GatewayCall) => gateway.upgrade({ ...UPGRADE, ...call, kind: 'exec' }, ANSWER, signal),
  ];
  return { gateway, both, refused, sent };
}

test('a call whose header has a control character is 400, counted, and not sent', async () => {
  const { both, refused, sent } = start();
  const bad = { answer: { code: 400, message: expect.stringContaining('its header user-agent has a control') } };
  for (const call of both)
    await expect(call({ ...CALL, rawHeaders: ['User-Agent', 'a\x07b'] })).rejects.toMatchObject(bad);
  expect([sent, refused]).toEqual([[], ['header', 'header']]);
});

test('G-01 a call is told of before it is sent, once, and not when it is refused', async () => {
  const { both, sent } = start();
  const seen: number[] = [];
  const onSend = () => void seen.push(sent.length);
  for (const call of both) await call({ ...CALL, onSend });
  expect(seen).toEqual([0, 1]);
  const reserved = { name: 'system:admin', groups: [] };
  for (const call of both)
    await expect(call({ ...CALL, onSend, caller: reserved })).rejects.toMatchObject({ answer: { code: 403 } });
  for (const call of both)
    await expect(call({ ...CALL, onSend, rawHeaders: ['Accept', '\x07'] })).rejects.toMatchObject({
      answer: { code: 400 },
    });
  expect([seen, sent.length]).toEqual([[0, 1], 2]);
});

test('A-30 what asks to be somebody else is 403 where the operator says so, counted, and not sent', async () => {
  const { both, refused, sent } = start();
  for (const call of both)
    await expect(call({ ...CALL, rawHeaders: ['Impersonate-User', 'bob'] })).rejects.toMatchObject({
      answer: { code: 403 },
    });
  expect([sent, refused]).toEqual([[], ['impersonate_header', 'impersonate_header']]);
});

test('an upgrade asks for its protocol by name', async () => {
  const { gateway, sent } = start();
  await gateway.upgrade({ ...UPGRADE, protocol: 'spdy/3.1' }, ANSWER, signal);
  await gateway.upgrade({ ...UPGRADE, subprotocols: ['a', 'b'] }, ANSWER, signal);
  const asked = (sent as { headers: readonly string[] }[]).map(({ headers }) =>
    headers.slice(2, headers.indexOf('X-Forwarded-For')),
  );
  expect(asked).toEqual([
    ['Upgrade', 'SPDY/3.1'],
    ['Upgrade', 'websocket', 'Origin', 'https://a', 'Sec-WebSocket-Protocol', 'a, b'],
  ]);
});

describe('G-12 a call without an answer', () => {
  test.each<[PassageFault, number, string]>([
    ['unreachable', 502, 'BadGateway'],
    ['credential', 502, 'BadGateway'],
    ['timeout', 504, 'Timeout'],
    ['away', 503, 'ServiceUnavailable'],
    ['full', 503, 'ServiceUnavailable'],
  ])('because of "%s" is %i and counted', async (fault, code, reason) => {
    const { both, refused } = start(new PassageError(fault));
    for (const call of both) await expect(call(CALL)).rejects.toMatchObject({ answer: { code, reason } });
    expect(refused).toEqual([fault, fault]);
  });

  test('because the client has gone is not counted', async () => {
    const { both, refused } = start(new PassageError('left'));
    for (const call of both) await expect(call(CALL)).rejects.toMatchObject({ answer: { code: 502 } });
    expect(refused).toEqual([]);
  });

  test('by a fault of our own is that fault', async () => {
    const fault = new TypeError('a fault of our own');
    const { both, refused } = start(fault);
    for (const call of both) await expect(call(CALL)).rejects.toBe(fault);
    expect(refused).toEqual([]);
  });
});

describe('G-16 a call that we may not make as the caller', () => {
  const wordsOf = async (refused?: ConstructorParameters<typeof PassageError>[2]) => {
    const { both } = start(new PassageError('impersonation', undefined, refused));
    const error = await both[0]?.(CALL).catch((reason: unknown) => reason);
    return (error as { answer: { code: number; message: string } }).answer;
  };

  test.each([
    ['users', 'ada', 'the user "ada" may not call the cluster through this server'],
    ['groups', 'dev', 'members of the group "dev" may not call the cluster through this server'],
    ['users', 'bob', 'you may not do this in the cluster through this server'],
    ['groups', 'ada', 'you may not do this in the cluster through this server'],
    ['userextras', 'dev', 'you may not do this in the cluster through this server'],
    [undefined, undefined, 'you may not do this in the cluster through this server'],
  ])('names what is missing (%s %s) only if it is the caller’s own', async (resource, name, words) => {
    const refused = resource === undefined ? undefined : { resource, name };
    expect(await wordsOf(refused as never)).toMatchObject({ code: 403, message: expect.stringContaining(words) });
  });

  test.each([
    ['/api', 1],
    ['/api/v1/namespaces/impersonate', 0],
    ['/api/v1/namespaces/%69mperson%61te', 0],
  ])('to %s is counted %i times: a path may bring the words itself', async (target, times) => {
    const { both, refused } = start(new PassageError('impersonation'));
    await expect(both[0]?.({ ...CALL, target })).rejects.toMatchObject({ answer: { code: 403 } });
    expect(refused).toHaveLength(times);
  });
});

test('a right that has ended, and an origin that may not connect, are 403 Forbidden', () => {
  for (const { answer } of [rightEnded(), foreignOrigin()])
    expect(answer).toMatchObject({ code: 403, reason: 'Forbidden' });
});
