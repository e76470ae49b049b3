import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiDispatcher } from '../support/control-plane/api-dispatcher.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { Watcher } from '../support/watcher.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { rights, rule, user } from './rights.ts';
import { grantWidgets, installWidgets, widget } from './widgets.ts';

const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';
const NAMESPACES = ['red', 'blue', 'green'];
/** Every object of the test has this name. */
const NAME = 'one';

interface AskedKind {
  readonly group: string;
  readonly resource: string;
  readonly isNamespaced: boolean;
  /** What stands in the path. */
  readonly word: string;
}

const KINDS: readonly AskedKind[] = [
  { group: '', resource: 'pods', isNamespaced: true, word: 'pods' },
  { group: 'apps', resource: 'deployments', isNamespaced: true, word: 'deployments' },
  { group: '', resource: 'configmaps', isNamespaced: true, word: 'configmaps' },
  { group: 'scheduling.k8s.io', resource: 'priorityclasses', isNamespaced: false, word: 'priorityclasses' },
  { group: 'example.com', resource: 'widgets', isNamespaced: true, word: 'widgets.example.com' },
];

/** How many of the reviews of each caller allow: a table without any would show nothing. */
const ALLOWED = { admin: 47, kind: 8, place: 5, named: 2, platform: 0, nobody: 0 };
type Caller = keyof typeof ALLOWED | 'mover';
const CALLERS = Object.keys(ALLOWED) as (keyof typeof ALLOWED)[];

const READ = ['get', 'list', 'watch'];

const moverIn = (namespace: string): object[] =>
  rights('mover', [rule('', 'pods', ['list', 'watch'])], user('mover'), namespace);

const RIGHTS: readonly object[] = [
  ...rights('test-admin', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], user('admin')),
  ...rights('test-kind', [rule('apps', 'deployments', ['list', 'watch'])], user('kind')),
  ...rights(
    'place',
    [
      rule('', 'pods', ['get', 'list']),
      rule('', 'configmaps', ['get']),
      rule('example.com', 'widgets', ['list', 'watch']),
    ],
    user('place'),
    'red',
  ),
  ...rights('named', [rule('', 'configmaps', READ, NAME)], user('named'), 'red'),
  ...rights('test-named', [rule('scheduling.k8s.io', 'priorityclasses', ['get'], NAME)], user('named')),
  // On the group of our paths, and on the kinds' names in groups that are not theirs.
  ...rights(
    'test-platform',
    [
      { apiGroups: ['resources.gatehouse.io'], resources: ['*'], verbs: ['*'] },
      ...['apps', 'example.com'].map((group) => rule(group, 'pods', READ)),
      ...['deployments', 'widgets', 'priorityclasses'].map((resource) => rule('', resource, READ)),
    ],
    user('platform'),
  ),
  ...moverIn('red'),
  ...moverIn('blue'),
];

const template = {
  metadata: { labels: { app: NAME } },
  spec: { containers: [{ name: 'main', image: 'example/main' }] },
};
const OBJECTS: readonly object[] = [
  { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: NAME }, value: 1 },
  ...NAMESPACES.flatMap((namespace) => {
    const metadata = { name: NAME, namespace };
    const selector = { matchLabels: { app: NAME } };
    return [
      { apiVersion: 'v1', kind: 'Pod', metadata, spec: template.spec },
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { selector, template } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata },
      widget(namespace, NAME),
    ];
  }),
];

interface PodList {
  readonly items?: readonly { readonly metadata: { readonly namespace: string } }[];
  readonly totalItems: number;
}

let cluster: ControlPlane;
let gatehouse: Gatehouse;
const tokens = new Map<Caller, string>();

const create = (...items: readonly object[]): Promise<string> =>
  cluster.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));

beforeAll(async () => {
  cluster = await startControlPlane();
  const callers: readonly Caller[] = [...CALLERS, 'mover'];
  [gatehouse] = await Promise.all([
    startGatehouse(cluster, Object.fromEntries(callers.map((name) => [name, []]))),
    installWidgets(cluster).then(async () => {
      await grantWidgets(cluster);
      await create(
        ...NAMESPACES.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
        ...OBJECTS,
        ...RIGHTS,
      );
    }),
  ]);
  for (const name of callers) tokens.set(name, await gatehouse.signIn(name));
});
afterAll(async () => {
  await gatehouse?.stop();
  await cluster?.stop();
});

interface Cell {
  readonly kind: AskedKind;
  readonly verb: 'get' | 'list' | 'watch';
  /** Empty: over all of them, or a kind without. */
  readonly namespace: string;
}

/** A namespaced object is asked for in its namespace only. */
const CELLS: readonly Cell[] = KINDS.flatMap((kind) => {
  const places = kind.isNamespaced ? [...NAMESPACES, ''] : [''];
  return places.flatMap((namespace) =>
    (['get', 'list', 'watch'] as const)
      .filter((verb) => verb !== 'get' || namespace !== '' || !kind.isNamespaced)
      .map((verb) => ({ kind, verb, namespace })),
  );
});

const titleOf = (caller: Caller, { kind, verb, namespace }: Cell): string =>
  `${caller} ${verb} ${kind.resource} ${namespace || '*'}`;

/** What the cluster answers to each, by the review that `kubectl auth can-i --as` makes. */
async function reviewed(): Promise<Map<string, boolean>> {
  const dispatcher = await apiDispatcher(cluster.caFile);
  const answers = new Map<string, boolean>();
  try {
    for (const caller of CALLERS) {
      for (const cell of CELLS) answers.set(titleOf(caller, cell), await canI(caller, cell));
    }
  } finally {
    await dispatcher.close();
  }
  return answers;

  async function canI(caller: Caller, { kind: { group, resource }, verb, namespace }: Cell): Promise<boolean> {
    const resourceAttributes = { group, resource, verb, namespace, ...(verb === 'get' && { name: NAME }) };
    const { body } = await request(`${cluster.url}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`, {
      method: 'POST',
      dispatcher,
      headers: {
        authorization: `Bearer ${cluster.adminToken}`,
        'impersonate-user': caller,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes },
      }),
    });
    return ((await body.json()) as { status: { allowed: boolean } }).status.allowed;
  }
}

const pathOf = ({ kind: { word }, verb, namespace }: Cell): string => {
  const place = namespace && `/namespaces/${namespace}`;
  return `${ROOT}${place}/${word}${verb === 'get' ? `/${NAME}` : ''}${verb === 'watch' ? '?watch=true' : ''}`;
};

/** The status of Gatehouse, and over what the list is when it is not over all. */
async function answered(caller: Caller, cell: Cell): Promise<string> {
  const headers = { authorization: `Bearer ${tokens.get(caller)}` };
  const watcher = await Watcher.open(gatehouse.url + pathOf(cell), headers);
  watcher.close();
  return [watcher.status, watcher.response.headers['gatehouse-scope']].filter(Boolean).join(' ');
}

/** What these reviews mean for a list API that shows nobody more than the cluster does, and one list over what the caller may see. */
function expectedOf(allowed: ReadonlyMap<string, boolean>, caller: Caller, cell: Cell): string {
  if (allowed.get(titleOf(caller, cell))) return '200';
  const isOverAll = cell.kind.isNamespaced && cell.namespace === '';
  const permitted = NAMESPACES.filter((namespace) => allowed.get(titleOf(caller, { ...cell, namespace })));
  return isOverAll && permitted.length > 0 ? `200 permitted; namespaces=${permitted.length}` : '403';
}

test.concurrent('KD-10 KD-13 each caller gets of each kind, in each namespace and by each verb, what kubectl auth can-i says', async () => {
  const allowedOf = (allowed: ReadonlyMap<string, boolean>, caller: Caller): number =>
    CELLS.filter((cell) => allowed.get(titleOf(caller, cell))).length;
  const counts = (allowed: ReadonlyMap<string, boolean>): object =>
    Object.fromEntries(CALLERS.map((caller) => [caller, allowedOf(allowed, caller)]));
  // RBAC sees new bindings a moment later.
  const allowed = await eventually(reviewed, (all) => CALLERS.every((one) => allowedOf(all, one) >= ALLOWED[one]));
  expect(counts(allowed)).toEqual(ALLOWED);
  const [got, wanted]: Record<string, string>[] = [{}, {}];
  for (const caller of CALLERS) {
    for (const cell of CELLS) {
      const title = titleOf(caller, cell);
      (got as Record<string, string>)[title] = await answered(caller, cell);
      (wanted as Record<string, string>)[title] = expectedOf(allowed, caller, cell);
    }
  }
  expect(got).toEqual(wanted);
});

test.concurrent('KD-12 KD-13 who has a right in two namespaces gets one list over them, and a watch that follows them', async () => {
  const headers = { authorization: `Bearer ${tokens.get('mover')}` };
  const list = async (): Promise<unknown[]> => {
    const answer = await fetch(`${gatehouse.url}${ROOT}/pods?sortBy=name&ascending=true`, { headers });
    const { items = [], totalItems } = (await answer.json()) as PodList;
    return [answer.headers.get('gatehouse-scope'), totalItems, items.map(({ metadata }) => metadata.namespace)];
  };
  expect(await list()).toEqual(['permitted; namespaces=2', 2, ['blue', 'red']]);
  const watcher = await Watcher.open(`${gatehouse.url}${ROOT}/pods?watch=true`, headers);
  const told = (): string[] =>
    watcher.events
      .filter(({ type }) => type !== 'BOOKMARK')
      .map(({ type, object: { metadata } }) => `${type} ${metadata.namespace}/${metadata.name}`);
  const heard = (count: number): Promise<string[]> =>
    eventually(
      async () => told(),
      ({ length }) => length >= count,
    );
  try {
    expect((await heard(2)).sort()).toEqual([`ADDED blue/${NAME}`, `ADDED red/${NAME}`]);
    await cluster.kubectl(['delete', 'rolebinding', 'mover', '--namespace', 'red']);
    await create(...moverIn('green'));
    expect((await heard(4)).slice(2).sort()).toEqual([`ADDED green/${NAME}`, `DELETED red/${NAME}`]);
    // The list that finds a namespace closed reviews it again, and the next one has it.
    await eventually(list, ([, total]) => total === 2);
    expect(await list()).toEqual(['permitted; namespaces=2', 2, ['blue', 'green']]);
    // Written in all three: only what is in a namespace of the caller is told.
    for (const namespace of ['red', 'green', 'blue'])
      await cluster.kubectl(['label', 'pod', NAME, 'step=1', '--namespace', namespace]);
    expect((await heard(6)).slice(4)).toEqual([`MODIFIED green/${NAME}`, `MODIFIED blue/${NAME}`]);
    expect(watcher.ending).toBeUndefined();
  } finally {
    watcher.close();
  }
});
