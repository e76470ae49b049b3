import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { CallerPolicy } from '../../../src/gateway/caller.ts';
import { Gateway, type GatewayCall } from '../../../src/gateway/gateway.ts';
import { GatewayMetrics } from '../../../src/gateway/metrics.ts';
import { copiedHeaders } from '../../../src/gateway/request-headers.ts';
import type { Passage } from '../../../src/kubernetes/passage/passage.ts';
import { FakeClock } from '../../support/fake-clock.ts';

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

test('such a call is 400, counted, and not sent', async () => {
  const metrics = new GatewayMetrics(new Registry());
  const refused: string[] = [];
  metrics.refused = (reason) => void refused.push(reason);
  let sent = 0;
  const send = async (): Promise<undefined> => void sent++;
  const passage: Pick<Passage, 'origin' | 'send' | 'upgrade'> = { origin: 'https://a', send, upgrade: send };
  const gateway = new Gateway(
    { allowProxySubresources: false, rejectImpersonation: false, unknownGroups: 'refuse' },
    {
      passage: passage as Passage,
      policy: new CallerPolicy({ platform: 'gatehouse', names: [] }),
      metrics,
      clock: new FakeClock(),
      onReserved: () => {},
      onLeftOut: () => {},
    },
  );
  const call: GatewayCall = {
    ...{ caller: { name: 'ada', groups: [] }, kind: 'object', method: 'GET', target: '/api', address: '127.0.0.1' },
    ...{ requestId: 'r', auditId: 'r', rawHeaders: ['User-Agent', 'a\x07b'] },
  };
  const answer = { start: () => {}, data: () => undefined };
  const { signal } = new AbortController();
  const bad = { answer: { code: 400, message: expect.stringContaining('its header user-agent has a control') } };
  await expect(gateway.forward(call, answer, signal)).rejects.toMatchObject(bad);
  const upgrade = { ...call, kind: 'exec' as const, protocol: 'websocket' as const, subprotocols: [] };
  await expect(gateway.upgrade(upgrade, answer, signal)).rejects.toMatchObject(bad);
  expect([sent, refused]).toEqual([0, ['header', 'header']]);
});
