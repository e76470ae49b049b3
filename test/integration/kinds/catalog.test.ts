import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { SimulatedClusterOptions } from '../../../dev/cluster/cluster.ts';
import { createKindCatalog } from '../../../src/kinds/catalog/kind-catalog.ts';
import { atEnd } from '../../support/at-end.ts';
import { connect } from '../reflector/mirror.ts';

/** The catalog of a simulated cluster, both on one clock. */
async function catalogOf(options: SimulatedClusterOptions = {}) {
  const connected = await connect(options);
  const { cluster, clock } = connected;
  const logger = pino({ level: 'silent' });
  const rules = { isAllowed: () => true, secrets: 'none', events: false } as const;
  const catalog = createKindCatalog({ platform: 'gatehouse', discovery: cluster.discovery, clock, logger, rules });
  const ending = new AbortController();
  const running = catalog.run(ending.signal);
  atEnd(() => {
    ending.abort();
    return running;
  });
  return { ...connected, catalog };
}

const FORMS = [
  ['all in one', {}],
  ['all in one, in its older version', { aggregatedDiscovery: ['v2beta1'] }],
  ['group by group', { aggregatedDiscovery: [] }],
] as const satisfies readonly (readonly [string, SimulatedClusterOptions])[];

describe('the kinds of a cluster', () => {
  test('KD-01 are the same in each form of discovery', async () => {
    const [first, ...others] = await Promise.all(
      FORMS.map(([, options]) => catalogOf(options).then(({ catalog }) => catalog.kinds())),
    );
    const own = { group: '', version: 'v1', namespaced: true };
    for (const name of ['configmaps', 'pods']) expect(first?.find((kind) => kind.name === name)).toMatchObject(own);
    for (const other of others) expect(other).toEqual(first);
  });

  describe.each(FORMS)('in discovery %s', (_form, options) => {
    const GROUP = 'things.example.test';
    const definition = {
      metadata: { name: `pods.${GROUP}` },
      spec: {
        ...{ group: GROUP, scope: 'Namespaced', names: { plural: 'pods', kind: 'Thing' } },
        versions: [{ name: 'v1', served: true, storage: true }],
      },
    };

    test('KD-01, KD-02 come with a definition, beside the kind of the core group with that plural, and go with it', async () => {
      const { catalog, server, clock } = await catalogOf(options);
      const removed: string[] = [];
      catalog.onRemoved((kinds) => removed.push(...kinds.map(({ resource, group }) => `${resource}.${group}`)));
      expect(await catalog.resolve(`pods.${GROUP}`)).toEqual({ unknown: true });
      server.objects.create('customresourcedefinitions', definition);
      await clock.advance(5_000);
      await expect
        .poll(() => catalog.resolve(`pods.${GROUP}`))
        .toMatchObject({ kind: { kind: 'Thing', group: GROUP } });
      expect(await catalog.resolve('pods')).toMatchObject({ kind: { kind: 'Pod', group: '' } });
      expect((await catalog.kinds()).filter(({ resource }) => resource === 'pods').map(({ name }) => name)).toEqual([
        'pods',
        `pods.${GROUP}`,
      ]);
      server.objects.remove('customresourcedefinitions', `pods.${GROUP}`);
      await clock.advance(5_000);
      await expect.poll(() => catalog.resolve(`pods.${GROUP}`)).toEqual({ unknown: true });
      expect(removed).toEqual([`pods.${GROUP}`]);
    });

    test('KD-01 of an API that is away stay known, and one that was never seen there is 503', async () => {
      const { catalog, server, clock } = await catalogOf(options);
      const api = { group: 'metrics.example.test', version: 'v1beta1' };
      server.aggregatedApis.add({ ...api, resources: [{ plural: 'readings', kind: 'Reading', namespaced: false }] });
      const readings = await catalog.resolve('readings');
      expect(readings).toMatchObject({ kind: { ...api, kind: 'Reading', namespaced: false } });
      server.aggregatedApis.setAway(api, true);
      await clock.advance(5_000);
      await expect
        .poll(() => Promise.resolve(catalog.resolve(`others.${api.group}`)).catch(String))
        .toContain('the API group "metrics.example.test" of the cluster does not answer');
      expect(catalog.resolve('readings')).toEqual(readings);
    });
  });

  test('KD-01 cost two requests every 5 s that are answered without a body, and none while nobody uses them', async () => {
    const { catalog, server, clock, value } = await catalogOf();
    await clock.advance(60_000);
    expect(server.evidence.requests.length).toBe(0);
    await Promise.all(Array.from({ length: 100 }, () => catalog.resolve('pods')));
    const answered = (code: string) => value('cluster_requests_total', { purpose: 'discovery', code });
    expect([await answered('200'), await answered('304')]).toEqual([2, 0]);
    await clock.advance(10_000);
    await server.evidence.until(() => server.evidence.requests.length === 6);
    await expect.poll(() => answered('304')).toBe(4);
    expect(server.evidence.requests.every(({ path }) => ['/api', '/apis'].includes(path))).toBe(true);
  });

  test('KD-04 name those that cannot be followed', async () => {
    const { catalog } = await catalogOf();
    expect(await catalog.resolve('tokenreviews')).toEqual({
      notListable:
        "tokenreviews.authentication.k8s.io are not served here, because the cluster's API for them has no list and no watch",
    });
    expect(await catalog.resolve('secrets')).toMatchObject({ notListable: expect.any(String) });
  });
});
