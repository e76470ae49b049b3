import { Registry } from 'prom-client';
import { CallerPolicy } from '../../../src/gateway/caller.ts';
import { Gateway } from '../../../src/gateway/gateway.ts';
import { GatewayMetrics } from '../../../src/gateway/metrics.ts';
import type { Passage } from '../../../src/kubernetes/passage/passage.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import type { TestParts } from './app-under-test.ts';

/** The gateway of the app, in front of a cluster that answers everything with an empty list. */
export function gatewayUnderTest(): NonNullable<TestParts['gateway']> {
  const passage: Pick<Passage, 'origin' | 'send' | 'upgrade'> = {
    origin: 'https://cluster.example.com',
    send: async (_, answer) => {
      answer.start(200, ['Content-Type', 'application/json']);
      await answer.data(Buffer.from('{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}'));
    },
    upgrade: async () => undefined,
  };
  const gateway = new Gateway(
    { allowProxySubresources: false, impersonation: 'refuse', unknownGroups: 'refuse' },
    {
      passage: passage as Passage,
      policy: new CallerPolicy({ platform: 'gatehouse', names: [] }),
      metrics: new GatewayMetrics(new Registry()),
      clock: systemClock,
      onReserved: () => {},
      onLeftOut: () => {},
    },
  );
  return { gateway, streamDrainMs: 60_000, events: { report: () => {} } };
}
