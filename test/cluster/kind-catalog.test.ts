import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKindCatalog, type KindCatalog } from '../../src/kinds/catalog/kind-catalog.ts';
import { type Cluster, connectCluster } from '../../src/kubernetes/cluster.ts';
import { type DiscoveredKinds, HttpDiscovery } from '../../src/kubernetes/discovery/discovery-reader.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { apiDispatcher } from '../support/control-plane/api-dispatcher.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { hurriedClock } from '../support/hurried-clock.ts';
import { eventually } from './eventually.ts';

/** Discovery is read again every half second. */
const clock = hurriedClock(10);
/** So many that an API server needs 200 ms after its start until it lists them all. */
const DEFINITIONS = 40;
const logger = pino({ level: 'silent' });
const { signal } = new AbortController();

let plane: ControlPlane;
let cluster: Cluster;
let pool: Dispatcher;
let catalog: KindCatalog;
let running: Promise<void>;
const ending = new AbortController();

beforeAll(async () => {
  plane = await startControlPlane();
  pool = await apiDispatcher(plane.caFile);
  const kubeconfig = await plane.kubeconfigFile();
  const shared = { clock: systemClock, random: systemRandom, logger, registry: new Registry() };
  cluster = await connectCluster({ kubeconfig }, shared);
  const rules = { isAllowed: () => true, secrets: 'none', events: false } as const;
  catalog = createKindCatalog({ platform: 'gatehouse', discovery: cluster.discovery, clock, logger, rules });
  running = catalog.run(ending.signal);
});
afterAll(async () => {
  ending.abort();
  await running;
  await cluster?.close();
  await pool?.destroy();
  await plane?.stop();
});

/** What a client finds that asks for plain documents only, as of a server without aggregated discovery. */
function readPlain(): Promise<DiscoveredKinds> {
  const headers = { authorization: `Bearer ${plane.adminToken}`, accept: 'application/json' };
  const json: ConstructorParameters<typeof HttpDiscovery>[0]['client']['json'] = async ({ path }, aborting) => {
    const { statusCode, body } = await request(plane.url + path, { dispatcher: pool, headers, signal: aborting });
    const text = await body.text();
    return { status: statusCode, headers: {}, body: statusCode === 200 ? JSON.parse(text) : {}, bytes: text.length };
  };
  return new HttpDiscovery({ client: { json }, clock: systemClock, closed: signal }).read(signal);
}

const apply = (object: object): Promise<string> => plane.kubectl(['apply', '-f', '-'], JSON.stringify(object));

/** A version of a definition that takes any object. */
const versionOf = (name: string, storage: boolean): object => ({
  ...{ name, storage, served: true },
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
});

const definitionOf = (plural: string, kind: string, versions: readonly object[]): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind, shortNames: [`short-${plural}`] },
    versions,
  },
});

/** What the catalog answers to a name, once it is as expected. */
const resolved = (name: string, isSo: (answer: unknown) => boolean): Promise<unknown> =>
  eventually(async () => catalog.resolve(name), isSo);
const hasKind = (answer: unknown): boolean => 'kind' in (answer as object);

test('KD-01 both forms of discovery say the same of a real API server, an API that is away included', async () => {
  const spec = { group: 'away.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 100 };
  const service = { namespace: 'default', name: 'nowhere' };
  await apply({
    ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: 'v1.away.example.com' } },
    spec: { ...spec, service, insecureSkipTLSVerify: true },
  });
  const found = await eventually(
    () => cluster.discovery.read(signal),
    ({ awayGroups }) => awayGroups.has('away.example.com'),
  );
  const plain = await eventually(readPlain, ({ awayGroups }) => awayGroups.has('away.example.com'));
  expect(plain).toEqual(found);
  expect(found.kinds.length).toBeGreaterThan(50);
  expect(found.kinds.find(({ resource }) => resource === 'horizontalpodautoscalers')).toMatchObject({ version: 'v2' });
  await plane.kubectl(['delete', 'apiservice', 'v1.away.example.com']);
});

test('KD-01 a custom resource is known once it is defined, in the version that the cluster prefers, and unknown once it is removed', async () => {
  const removed: string[] = [];
  catalog.onRemoved((kinds) => removed.push(...kinds.map(({ resource, version }) => `${resource} ${version}`)));
  expect(await catalog.resolve('widgets')).toEqual({ unknown: true });
  await apply(definitionOf('widgets', 'Widget', [versionOf('v1beta1', true)]));
  const kind = {
    ...{ group: 'example.com', version: 'v1beta1', resource: 'widgets', kind: 'Widget', singularName: 'widget' },
    ...{ shortNames: ['short-widgets'], namespaced: true, verbs: expect.arrayContaining(['get', 'list', 'watch']) },
  };
  expect(await resolved('widgets', hasKind)).toEqual({ kind });
  expect(await catalog.resolve('widgets.example.com')).toEqual({ kind });
  await apply(definitionOf('widgets', 'Widget', [versionOf('v1beta1', true), versionOf('v1', false)]));
  await resolved('widgets', (answer) => JSON.stringify(answer).includes('"v1"'));
  await plane.kubectl(['delete', 'crd', 'widgets.example.com']);
  await resolved('widgets', (answer) => !hasKind(answer));
  expect(removed).toEqual(['widgets v1beta1', 'widgets v1']);
});

test('KD-01 a real API server answers 304 while nothing changes, so that the kinds are the same object', async () => {
  const readTwice = () =>
    cluster.discovery.read(signal).then(async (found) => found === (await cluster.discovery.read(signal)));
  expect(await eventually(readTwice, (isSame) => isSame)).toBe(true);
});

test('KD-04 the kinds of a real API server that cannot be listed and watched are named as such, and all others are listed', async () => {
  for (const name of ['componentstatuses', 'tokenreviews', 'subjectaccessreviews', 'bindings', 'events', 'secrets'])
    expect([name, await catalog.resolve(name)]).toEqual([
      name,
      { notListable: expect.stringContaining('not served here') },
    ]);
  const { kinds } = await cluster.discovery.read(signal);
  const listed = new Set((await catalog.kinds()).map(({ resource, group }) => `${resource}.${group}`));
  const others = kinds.filter(({ resource, group }) => !listed.has(`${resource}.${group}`));
  expect(
    others.every(({ verbs, resource }) => ['events', 'secrets'].includes(resource) || !verbs.includes('watch')),
  ).toBe(true);
  expect([listed.has('pods.'), listed.has('deployments.apps')]).toEqual([true, true]);
});

test('KD-01 an API server that has just started takes no custom resource away', async () => {
  const plurals = Array.from({ length: DEFINITIONS }, (_, index) => `gadgets${index}s`);
  const items = plurals.map((plural) => definitionOf(plural, `Gadget${plural}`, [versionOf('v1', true)]));
  await apply({ apiVersion: 'v1', kind: 'List', items });
  const hasGadgets = ({ kinds }: DiscoveredKinds): boolean =>
    plurals.every((plural) => kinds.some(({ resource }) => resource === plural));
  await eventually(() => cluster.discovery.read(signal), hasGadgets);
  await plane.killApiServer();
  const answers = { whole: 0, withoutGadgets: 0, failed: 0 };
  let isReady = false;
  const starting = plane.startApiServer().then(() => {
    isReady = true;
  });
  while (!isReady) {
    await cluster.discovery.read(signal).then(
      (found) => answers[hasGadgets(found) ? 'whole' : 'withoutGadgets']++,
      () => answers.failed++,
    );
    await sleep(10);
  }
  await starting;
  expect(answers.withoutGadgets).toBe(0);
  await eventually(
    () => cluster.discovery.read(signal).catch(() => undefined),
    (found) => found !== undefined && hasGadgets(found),
  );
});
