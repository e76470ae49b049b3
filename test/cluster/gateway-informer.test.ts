import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword } from '../../src/users/password-hash.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { NAMESPACE } from './installation.ts';
import { CLIENTS, type ClientName, LiveListClients, type Said } from './live-list-clients.ts';
import { WRITTEN_NODES, WrittenObjects } from './written-objects.ts';

/** `npm run test:live-list` goes on for ten minutes; without the variable each way to end happens once to each replica. */
const MINUTES = Number(process.env['LIVE_LIST_MINUTES'] ?? 0);
const USER = 'ada';
/** Changes that the clients are told of before the next process ends. */
const CHANGES_BETWEEN = 20;

let cluster: ControlPlane;
let folder: string;
let ports: readonly number[];
const replicas: Gatehouse[] = [];

beforeAll(async () => {
  cluster = await startControlPlane();
  ports = await freePorts(2);
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-informer-'));
  const users = [{ name: USER, groups: [], passwordHash: await hashPassword(`${USER}-password`, 10) }];
  await writeFile(join(folder, 'users.json'), JSON.stringify({ users }));
  // One after the other: the second finds the signing key of the first.
  for (const at of ports.keys()) replicas.push(await startReplica(at));
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(RIGHTS));
  for (const replica of replicas) {
    const token = await replica.signIn(USER);
    await eventually(
      () => replica.get('/api/v1/nodes', token),
      ({ status }) => status === 200, // RBAC sees new bindings a moment later
    );
  }
});

afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The same users file for all: another hash would count as another password, and end the sessions begun with the old one. */
const startReplica = (at: number): Promise<Gatehouse> => {
  const config = {
    gateway: { enabled: true },
    authentication: { oauthOptions: { issuer: 'http://localhost/oauth' } },
    users: { file: join(folder, 'users.json') },
  };
  return startGatehouse(cluster, {}, { port: ports[at] ?? 0, config });
};

const rule = (apiGroups: string[], resources: string[], verbs: string[], resourceNames?: string[]): object => ({
  apiGroups,
  resources,
  verbs,
  ...(resourceNames && { resourceNames }),
});

const rights = (name: string, rules: object[], subject: object): object[] => {
  const [apiGroup, metadata] = ['rbac.authorization.k8s.io', { name }];
  return [
    { apiVersion: `${apiGroup}/v1`, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [subject],
    },
  ];
};

/** That of the user at the cluster, and that of Gatehouse to act as the user. */
const RIGHTS = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    ...rights('reader-of-nodes', [rule([''], ['nodes'], ['get', 'list', 'watch'])], { kind: 'User', name: USER }),
    ...rights(
      'gateway',
      [
        rule([''], ['users'], ['impersonate'], [USER]),
        rule([''], ['groups'], ['impersonate'], ['system:authenticated']),
        rule(['authentication.k8s.io'], ['userextras/gatehouse.io/session'], ['impersonate']),
      ],
      { kind: 'ServiceAccount', name: 'gatehouse', namespace: NAMESPACE },
    ),
  ],
};

async function restart(at: number, how: 'stop' | 'terminate'): Promise<void> {
  await replicas[at]?.[how]();
  replicas[at] = await startReplica(at);
}

const RESTARTS: readonly (() => Promise<void>)[] = [
  () => restart(0, 'stop'),
  () => restart(1, 'terminate'),
  () => restart(0, 'terminate'),
  () => restart(1, 'stop'),
];

const changeOf = ({ what, name, version }: Said): string =>
  what === 'delete' ? `delete ${name}` : `${what} ${name} ${version}`;

const changesOf = (clients: LiveListClients, who: ClientName): string[] =>
  clients.of(who, 'add', 'update', 'delete').map(changeOf);

const nodeOf = ({ name, version, step = '' }: Said): string => `${name} ${version} ${step}`;

/**
 * Resolves when every client has been told of all that was changed so far. Only then the next process ends: a watch that ends
 * within a second and without an event makes client-go list again.
 */
async function caughtUp(clients: LiveListClients, nodes: WrittenObjects): Promise<void> {
  const count = nodes.changes.length;
  await eventually(
    async () => CLIENTS.map((who) => clients.of(who, 'add', 'update', 'delete').length),
    (told) => told.every((one) => one >= count),
  );
}

test('HL-01 a command of 40 KiB reaches the API server, which judges it', async () => {
  const replica = replicas[0] as Gatehouse;
  const headers = { authorization: `Bearer ${await replica.signIn(USER)}` };
  const exec = '/api/v1/namespaces/default/pods/none/exec';
  const answer = await fetch(`${replica.url}${exec}?command=${'a'.repeat(40 * 1024)}&stdout=true`, { headers });
  const forbidden =
    'pods "none" is forbidden: User "ada" cannot get resource "pods/exec" in API group "" in the namespace "default"';
  expect([answer.status, await answer.json()]).toMatchObject([403, { message: forbidden }]);
});

test(
  'G-07 client-go is told each change once and in order, while Gatehouse processes end and start under it',
  async () => {
    const token = await (replicas[0] as Gatehouse).signIn(USER);
    const nodes = await WrittenObjects.open(cluster, WRITTEN_NODES);
    const clients = await LiveListClients.start({ urls: replicas.map(({ url }) => url), path: '/api/v1/nodes', token });
    const enough = new AbortController();
    let writing = Promise.resolve();
    try {
      await caughtUp(clients, nodes); // their lists are complete: from now on all that they are told are changes
      writing = nodes.run(enough.signal);
      const until = performance.now() + MINUTES * 60_000;
      let restarts = 0;
      do {
        const before = nodes.changes.length;
        await eventually(
          async () => nodes.changes.length,
          (count) => count >= before + CHANGES_BETWEEN,
        );
        await caughtUp(clients, nodes);
        await RESTARTS[restarts++ % RESTARTS.length]?.();
      } while (performance.now() < until || restarts < RESTARTS.length);
      enough.abort();
      await writing;
      await caughtUp(clients, nodes);
      const left = (await nodes.list()).map(({ metadata: { name, resourceVersion, labels } }) =>
        nodeOf({ who: 'informer', what: 'held', name, version: resourceVersion, step: labels?.['step'] ?? '' }),
      );
      await clients.end();
      for (const who of CLIENTS) {
        expect(changesOf(clients, who)).toEqual(nodes.changes);
        expect(clients.of(who, 'held').map(nodeOf).toSorted()).toEqual(left.toSorted());
        expect(clients.of(who, 'watch').filter(({ whole }) => whole)).toHaveLength(1);
        expect(clients.of(who, 'list')).toEqual([]);
        tell(clients, who);
      }
      console.log(`${restarts} restarts of a replica, ${nodes.changes.length} changes`);
    } finally {
      enough.abort();
      await Promise.allSettled([writing]);
      clients.kill();
      await nodes.close();
    }
  },
  300_000 + MINUTES * 60_000,
);

function tell(clients: LiveListClients, who: ClientName): void {
  const [watches, refused] = [clients.of(who, 'watch').length, clients.of(who, 'refused').length];
  console.log(`${who}: ${changesOf(clients, who).length} events, ${watches} watches, ${refused} of them refused`);
}
