import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/kubernetes/cluster.ts';
import { createAuditLines, createSecurityEvents } from '../../src/observability/security-events.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { createSessions, type SessionOptions } from '../../src/service/session-stores.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** The store in use: whether records are mirrored from the cluster, and what the metric says. */
async function opened(inCluster: boolean, store: SessionOptions['store']): Promise<object> {
  const registry = new Registry();
  const logger = pino({ enabled: false });
  const mirrored: string[] = [];
  const mirrorSecrets = ((name: string) => {
    mirrored.push(name);
    return { records: { onChange: () => {} }, reflector: {} };
  }) as unknown as Cluster['mirrorSecrets'];
  const parts = { clock: new FakeClock(), random: systemRandom, logger, registry };
  createSessions(
    { platform: 'gatehouse', store, maxStalenessMs: 600_000 },
    {
      ...parts,
      cluster: { inCluster, mirrorSecrets },
      events: createSecurityEvents(createAuditLines(logger), registry),
    },
  );
  const metric = await registry.getSingleMetric('gatehouse_session_store_info')?.get();
  return { mirrored, shown: metric?.values.map(({ labels, value }) => [labels['store'], value]) };
}

const IN_CLUSTER = { mirrored: ['sessions'], shown: [['kubernetes', 1]] };
const IN_MEMORY = { mirrored: [], shown: [['memory', 1]] };

describe('the store of sessions', () => {
  test('T-18 is the cluster by default where the program runs in one', async () => {
    expect(await opened(true, undefined)).toEqual(IN_CLUSTER);
  });

  test('is memory by default elsewhere', async () => {
    expect(await opened(false, undefined)).toEqual(IN_MEMORY);
  });

  test('is the one that is asked for by name', async () => {
    expect(await opened(true, 'memory')).toEqual(IN_MEMORY);
    expect(await opened(false, 'kubernetes')).toEqual(IN_CLUSTER);
  });
});
