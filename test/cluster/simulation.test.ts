import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServedKinds } from '../../dev/cluster/api/served-kinds.ts';
import { startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import { apiVersionOf, type ResourceKind } from '../../dev/cluster/kinds.ts';
import { ApiClient } from '../support/conformance/api-client.ts';
import type { ConformanceTarget } from '../support/conformance/target.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { fixtureObjects } from '../support/fixture-objects.ts';
import { SEED } from '../support/seed.ts';
import { compare, DELIBERATE } from '../support/sequences/differences.ts';
import { sequencesOf } from '../support/sequences/generate.ts';
import { run } from '../support/sequences/run.ts';
import { installDefinitions } from './custom-resources.ts';

/** `npm run test:simulation` compares 3,000. */
const SEQUENCES = Number(process.env['SIMULATION_SEQUENCES'] ?? 300);
/** Each takes a fraction of a second, by hand on a machine that does other things too. */
const TIME_LIMIT_MS = 120_000 + SEQUENCES * 1_000;

let cluster: ControlPlane;
beforeAll(async () => {
  cluster = await startControlPlane();
  await installDefinitions(cluster, 'gatehouse');
});
afterAll(() => cluster?.stop());

const asTarget = (
  url: string,
  token: string,
  caFile?: string,
): Pick<ConformanceTarget, 'url' | 'token' | 'caFile'> => ({
  url,
  token,
  ...(caFile && { caFile }),
});

test(
  `the simulated cluster does with ${SEQUENCES} sequences what the API server does (seed ${SEED})`,
  async () => {
    const sequences = sequencesOf(SEED, SEQUENCES);
    const real = await run(asTarget(cluster.url, cluster.adminToken, cluster.caFile), sequences);
    const simulated = await startSimulatedCluster({ seed: SEED });
    const courses = await run(asTarget(simulated.url, simulated.adminToken), sequences);
    await simulated.stop();
    const { alike, deliberate, differences } = compare(sequences, courses, real);
    const statuses = Map.groupBy(
      real.flatMap(({ outcomes }) => outcomes),
      ({ status }) => status,
    );
    const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, some]) => `${some.length} × ${status}`);
    console.info(
      `${SEQUENCES} sequences (seed ${SEED}): ${alike} answers and events alike, ${differences.length} sequences otherwise; answers: ${counts.join(', ')}`,
    );
    for (const { what, why } of DELIBERATE) console.info(`  ${deliberate.get(what)} times it ${what}: ${why}`);
    expect(differences.slice(0, 5)).toEqual([]);
    expect(DELIBERATE.filter(({ what }) => deliberate.get(what) === 0)).toEqual([]);
  },
  TIME_LIMIT_MS,
);

/** What every server has from its start. */
const THERE = /^(namespaces (default|kube-\S+)|clusterroles view): 409 /;

test('the API server takes every object that the demo and the tests put into the simulated cluster', async () => {
  const { objects, kinds } = await fixtureObjects((name) =>
    readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'),
  );
  const api = await ApiClient.to(asTarget(cluster.url, cluster.adminToken, cluster.caFile));
  const refused: string[] = [];
  for (const { plural, object } of objects) {
    const { resourceVersion: _version, uid: _uid, ...metadata } = object.metadata;
    const path = collectionOf(kinds, plural, metadata.namespace);
    // A real server adds no type to a custom resource.
    const body = { ...object, ...typeOf(kinds, plural), metadata };
    const { status, body: said } = await api.post(`${path}?dryRun=All&fieldValidation=Strict`, body);
    if (status !== 201) refused.push(`${plural} ${metadata.name}: ${status} ${said.message}`);
    // What comes later is in it.
    if (plural === 'namespaces') await api.post(path, body);
    if (plural === 'customresourcedefinitions') {
      await api.post(path, body);
      await expect.poll(async () => (await api.get(collectionOf(kinds, metadata.name, 'default'))).status).toBe(200);
    }
  }
  await api.close();
  console.info(`${objects.length} objects tried`);
  expect(refused.filter((one) => !THERE.test(one))).toEqual([]);
});

function typeOf(kinds: ServedKinds, name: string): object {
  const kind = kinds.stored.find((one) => one.name === name) as ResourceKind;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind };
}

function collectionOf(kinds: ServedKinds, name: string, namespace: string | undefined): string {
  const { group, version, plural } = kinds.stored.find((kind) => kind.name === name) as ResourceKind;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}
