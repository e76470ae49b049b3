import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import type { Replica } from './replica.ts';
import { type Replicas, startReplicas } from './replicas.ts';

/** Eight is what the defaults promise; a run of all tests takes less. */
const MINUTES = Number(process.env['OUTAGE_MINUTES'] ?? 0.5);
/** How long the callers have asked nothing when the outage begins. After more than a minute and a half the answers are renewed ones. */
const IDLE_MINUTES = Number(process.env['IDLE_MINUTES'] ?? 0);
const CALLERS = 200;

let cluster: ControlPlane;
let replicas: Replicas;

beforeAll(async () => {
  cluster = await startControlPlane();
  replicas = await startReplicas(cluster, { people: CALLERS });
});
afterAll(async () => {
  await replicas?.stop();
  await cluster?.stop();
});

/** Answers that a replica remembers: each caller asks one question, and reviews of each are in one entry. */
const remembered = (replica: Replica): Promise<number> => replica.metric('gatehouse_authorization_cache_entries');

test(
  `R-11 three replicas answer 200 callers whom one of them has answered, after ${MINUTES} minutes without the API server`,
  async () => {
    const tokens: string[] = [];
    for (const [index, person] of replicas.people.entries()) {
      const replica = replicas.all[index % replicas.all.length] as Replica;
      const { access_token: token } = await replica.signIn(person);
      // RBAC sees a new binding a moment later.
      await eventually(
        () => replica.list(token),
        (status) => status === 200,
      );
      tokens.push(token);
    }
    for (const replica of replicas.all)
      await eventually(
        () => remembered(replica),
        (answers) => answers === CALLERS,
      );
    const secret = await cluster.kubectl([
      'get',
      'secret',
      '-n',
      'gatehouse-system',
      'gatehouse-recent-questions',
      '-o',
      'json',
    ]);
    const bytes = Object.values(JSON.parse(secret).data as Record<string, string>).map((text) => text.length);
    await sleep(IDLE_MINUTES * 60_000);
    await cluster.killApiServer();
    await sleep(MINUTES * 60_000);
    const answered = await Promise.all(
      replicas.all.map(async (replica) => {
        const statuses = [];
        for (const token of tokens) statuses.push(await replica.list(token));
        return statuses.filter((status) => status === 200).length;
      }),
    );
    console.log(
      `after ${MINUTES} minutes answered of ${CALLERS}: ${answered.join(', ')}; the Secret has ${bytes.join(' + ')} bytes`,
    );
    for (const count of answered) expect(count).toBeGreaterThanOrEqual(0.99 * CALLERS);
  },
  (MINUTES + IDLE_MINUTES + 10) * 60_000,
);
