import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { kubeconfigText } from '../../dev/cluster/kubeconfig.ts';
import { Program, writeFiles } from '../integration/service/program.ts';
import { startRelay } from '../integration/service/relay.ts';
import { eventually, type Service, shownAsFailing, startCluster, usersFile } from '../integration/service/stand.ts';

/** Minutes of an outage in seconds of a test: the limits of the configuration have a least value, 2 min. */
const TIMES_AS_FAST = '10';
const REPLICAS = 3;
const LOOK_MS = 100;

const CURRENT = '200';
const OLD = '200 with Age';
const NODES_TOO_OLD = '503 nodes are not available: data is older than 2m0s';
const SESSIONS_TOO_OLD = '503 sessions or signing keys are not available: data is older than 4m0s';

/** What a client of the list is told. */
async function seen(service: Service, token: string): Promise<string> {
  const { status, headers, body } = await service.list(token);
  // Each has its own last proof, so either may be the first to be too old.
  if (status !== 200)
    return `${status} ${body.message.replace(/^(sessions|signing keys) /, 'sessions or signing keys ')}`;
  return headers.has('age') ? OLD : CURRENT;
}

/** Looks at one replica, over and over, until it answers the last of these; collects each answer that differs from the one before. */
async function follow(service: Service, token: string, last: string) {
  const story: string[] = [];
  const readiness = new Set<number>();
  await eventually(
    async () => {
      readiness.add(await service.readiness());
      const now = await seen(service, token);
      if (story.at(-1) !== now) story.push(now);
      return now;
    },
    (now) => now === last,
    () => sleep(LOOK_MS),
  );
  return { story, readiness: [...readiness] };
}

test('three replicas that have synced stay ready while the API server is away, tell the age, then the limit, and recover', async () => {
  const cluster = await startCluster();
  const relay = await startRelay(Number(new URL(cluster.url).port));
  const config = (users: string, kubeconfig: string): string =>
    JSON.stringify({
      server: { address: '127.0.0.1', port: 0, metricsPort: 0 },
      kubernetes: { kubeconfig },
      users: { file: users },
      sessions: { store: 'kubernetes' },
      nodes: { maxStaleness: '2m' },
      authorization: { maxStaleness: '4m' },
    });
  const files = writeFiles({
    users: await usersFile(),
    kubeconfig: kubeconfigText(relay.url, cluster.adminToken),
  });
  const programs = Array.from({ length: REPLICAS }, () => {
    const file = writeFiles({ config: config(files.users, files.kubeconfig) }).config;
    return new Program([file, TIMES_AS_FAST], { module: 'test/support/hurried-gatehouse.ts' });
  });
  const services = await Promise.all(programs.map((program) => program.service()));
  const { access_token: token } = await (services[0] as Service).signIn('ada');
  // The limit of an access review is a third of a second here, which a busy machine may take.
  for (const service of services)
    await eventually(
      () => service.list(token),
      ({ status }) => status === 200,
    );

  relay.cut();
  const outage = await Promise.all(services.map((service) => follow(service, token, SESSIONS_TOO_OLD)));
  for (const { story, readiness } of outage) {
    expect(readiness).toEqual([200]);
    expect(story.slice(-3)).toEqual([OLD, NODES_TOO_OLD, SESSIONS_TOO_OLD]);
  }
  const checks = [
    'nodes-fresh',
    'pods-fresh',
    'namespaces-fresh',
    'sessions-fresh',
    'device-codes-fresh',
    'revocations-fresh',
  ];
  for (const service of services) {
    // The first of sessions and signing keys to be too old ended `follow`; the other follows by its own last proof.
    const failing = () => shownAsFailing(service);
    expect(await eventually(failing, ({ length }) => length === checks.length)).toEqual(checks);
    expect((await service.call('/oauth/keys')).status).toBe(200);
  }

  relay.heal();
  const after = await Promise.all(services.map((service) => follow(service, token, CURRENT)));
  for (const { readiness } of after) expect(readiness).toEqual([200]);
  await Promise.all(
    services.map((service) =>
      eventually(
        () => shownAsFailing(service),
        (checks) => checks.length === 0,
      ),
    ),
  );
});
