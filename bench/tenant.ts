import type { NewObject } from '../dev/cluster/kube-object.ts';
import type { Bench } from './bench.ts';
import { askFirst, expectTotal } from './kinds/asking.ts';
import { startSimulated } from './peers/clusters.ts';
import { BENCH_USERS, fourDigits, startGatehouse } from './peers/gatehouse.ts';
import { quantile } from './statistics.ts';
import { count, number, table, verdict } from './table.ts';

/** The lists of workspaces and of their namespaces that the console of KubeSphere 3.4 asks for, as an ordinary person. */
export interface TenantResults {
  readonly lists: readonly TenantList[];
}

interface TenantList {
  readonly name: string;
  readonly total: number;
  /** Of the first page, for which rights are reviewed and kinds come into memory. */
  readonly firstMs: number;
  /** All rounds, one page after the other. */
  readonly latenciesMs: readonly number[];
}

const NAMESPACES = 1_000;
const BINDINGS = 5_000;
const WORKSPACES = 500;
/** The person is in every tenth workspace, and so may see every tenth namespace. */
const OWN = 10;
const SAMPLES = 2_000;
const MOST_P99_MS = 10;

const GROUP = 'tenant.gatehouse.io';
const IAM_GROUP = 'iam.gatehouse.io';
const LABEL = 'gatehouse.io/workspace';
const [PERSON = ''] = BENCH_USERS;
const ROOT = `/kapis/${GROUP}`;

const workspaceName = (at: number): string => `workspace-${fourDigits(at)}`;

const LISTS: readonly (readonly [name: string, path: string, total: number])[] = [
  ['templates', `${ROOT}/v1alpha3/workspacetemplates?limit=10`, WORKSPACES / OWN],
  ['workspaces', `${ROOT}/v1alpha3/workspaces?limit=10&page=2&sortBy=name`, WORKSPACES / OWN],
  ['namespaces', `${ROOT}/v1alpha2/namespaces?limit=10&page=2&sortBy=createTime`, NAMESPACES / OWN],
  [
    'namespaces of a workspace',
    `${ROOT}/v1alpha2/workspaces/${workspaceName(OWN)}/namespaces?limit=10`,
    NAMESPACES / WORKSPACES,
  ],
];

/** The simulated cluster's reviews let the person see the namespaces of the own workspaces, and list nothing in the whole cluster. */
export async function measureTenant(bench: Bench): Promise<TenantResults> {
  bench.note(`${NAMESPACES} namespaces, ${BINDINGS} bindings of ${WORKSPACES} workspaces`);
  const isOwn = (namespace: string): boolean =>
    namespace.startsWith('ns-') && Number.parseInt(namespace.slice('ns-'.length), 16) % OWN === 0;
  const simulation = await startSimulated(1, 0, ({ user, resourceAttributes: asked }) => {
    const isOpen = asked?.resource === 'namespaces' && asked.verb === 'list' && asked.group === GROUP;
    return user !== PERSON || isOpen || (asked?.namespace !== undefined && isOwn(asked.namespace));
  });
  for (const [plural, object] of objects()) simulation.cluster.objects.create(plural, object);
  const gatehouse = await startGatehouse(bench.children, { ...simulation, name: 'tenant' });
  const lists: TenantList[] = [];
  for (const [name, path, total] of LISTS) {
    const first = await askFirst(gatehouse.target, path);
    expectTotal(first, total);
    const latenciesMs: number[] = [];
    for (let round = 0; round < bench.options.rounds; round++) {
      const asks = Array.from({ length: SAMPLES }, () => ({ path }));
      latenciesMs.push(...(await bench.generator.samples({ target: gatehouse.target, asks, status: 200 })).latenciesMs);
    }
    lists.push({ name, total, firstMs: first.tookMs, latenciesMs });
  }
  for (const part of [gatehouse, simulation]) await part.stop();
  return { lists };
}

const definition = (plural: string, kind: string, group: string, version: string): NewObject => ({
  metadata: { name: `${plural}.${group}` },
  spec: {
    ...{ group, scope: 'Cluster', names: { plural, kind } },
    versions: [{ name: version, served: true, storage: true }],
  },
});

/** All objects, each with the plural of its kind. */
function* objects(): Generator<readonly [plural: string, object: NewObject]> {
  yield ['customresourcedefinitions', definition('workspaces', 'Workspace', GROUP, 'v1alpha1')];
  yield ['customresourcedefinitions', definition('workspacetemplates', 'WorkspaceTemplate', GROUP, 'v1alpha2')];
  yield [
    'customresourcedefinitions',
    definition('workspacerolebindings', 'WorkspaceRoleBinding', IAM_GROUP, 'v1alpha2'),
  ];
  for (let at = 0; at < WORKSPACES; at++)
    for (const [plural, version] of [
      ['workspaces', 'v1alpha1'],
      ['workspacetemplates', 'v1alpha2'],
    ] as const)
      yield [
        `${plural}.${GROUP}`,
        { apiVersion: `${GROUP}/${version}`, metadata: { name: workspaceName(at) }, spec: {} },
      ];
  for (let at = 0; at < NAMESPACES; at++)
    yield [
      'namespaces',
      { metadata: { name: `ns-${fourDigits(at)}`, labels: { [LABEL]: workspaceName(at % WORKSPACES) } } },
    ];
  for (let at = 0; at < BINDINGS; at++) {
    const workspace = at % WORKSPACES;
    // The first binding of each tenth workspace names the person.
    const name = at < WORKSPACES && workspace % OWN === 0 ? PERSON : `user-${fourDigits(at)}`;
    const metadata = { name: `binding-${fourDigits(at)}`, labels: { [LABEL]: workspaceName(workspace) } };
    const roleRef = { apiGroup: IAM_GROUP, kind: 'WorkspaceRole', name: `${workspaceName(workspace)}-viewer` };
    const subjects = [{ kind: 'User', name }];
    yield [`workspacerolebindings.${IAM_GROUP}`, { apiVersion: `${IAM_GROUP}/v1alpha2`, metadata, roleRef, subjects }];
  }
}

/** The lists as text: a table with its target. */
export function printTenant({ lists }: TenantResults): string {
  const rows = lists.map(({ name, total, firstMs, latenciesMs }) => {
    const p99 = quantile(latenciesMs, 0.99);
    const figures = [firstMs, quantile(latenciesMs, 0.5), p99].map(number);
    return [name, count(total), ...figures, `≤ ${MOST_P99_MS}`, verdict(p99 <= MOST_P99_MS)];
  });
  return table(
    `The console's lists as an ordinary person: ${count(NAMESPACES)} namespaces, ${count(BINDINGS)} bindings, pages of 10`,
    ['', 'total', 'first page, ms', 'p50, ms', 'p99, ms', 'target', ''],
    rows,
  );
}
