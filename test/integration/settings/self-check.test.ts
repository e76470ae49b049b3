import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import type { Cluster } from '../../../src/kubernetes/cluster.ts';
import type { CheckPlan } from '../../../src/kubernetes/reflector/self-check.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { createListMirrors } from '../../../src/service/list-mirrors.ts';
import { ALWAYS_CURRENT } from '../../support/always-current.ts';
import { startDrivenReady } from '../service/driven.ts';
import { startCluster } from '../service/stand.ts';
import { ODD } from './odd-settings.ts';

/** Pages that the cluster was asked for at an exact version within twenty minutes: by the check alone. */
async function pagesIn20Minutes(version: string, pods: string): Promise<{ nodes: number; pods: number }> {
  const cluster = await startCluster({ version });
  const { clock } = await startDrivenReady(cluster, { config: { nodes: { selfCheck: { pods } } } });
  await clock.spend(1_200_000);
  const pages = (kind: string): number =>
    cluster.evidence.requests.filter(
      ({ verb, target, query }) =>
        verb === 'list' && target?.kind.plural === kind && query.get('resourceVersionMatch') === 'Exact',
    ).length;
  return { nodes: pages('nodes'), pods: pages('pods') };
}

describe('how often the cache is checked', () => {
  // A cluster that is large enough to be checked more seldom takes minutes: what reflectors are made with is the other end here.
  test('nodes.selfCheck.longestPeriod: no two checks of a kind are further apart', () => {
    const plans: CheckPlan[] = [];
    const reflect = (_: unknown, __: unknown, plan: CheckPlan) => {
      plans.push(plan);
      return {
        run: async () => {},
        hasSynced: () => true,
        proof: ALWAYS_CURRENT,
        stalenessMs: () => 0,
        idleMs: () => 0,
      };
    };
    const { config } = loadConfig('config.yaml', () => JSON.stringify({ nodes: ODD.nodes }));
    const cluster = { reflect } as unknown as Cluster;
    const parts = { cluster, clock: systemClock, random: systemRandom, exposeBytes: () => {} };
    createListMirrors({ platform: config.platform, needsNamespaces: false, ...config.nodes }, parts);
    expect(plans.map(({ longestPeriodMs }) => longestPeriodMs)).toEqual([669_000, 669_000, 669_000]);
  });

  test.each([
    ['auto', 'v1.33.4', true],
    ['auto', 'v1.34.4', false],
    ['always', 'v1.34.4', true],
    ['never', 'v1.33.4', false],
  ] as const)('nodes.selfCheck.pods: %s on %s checks pods: %s', async (word, version, checks) => {
    const { nodes, pods } = await pagesIn20Minutes(version, word);
    expect([nodes >= 2, pods >= 2, pods > 0]).toEqual([true, checks, checks]);
  });
});
