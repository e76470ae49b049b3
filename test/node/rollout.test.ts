import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { NEXT } from './image/images.ts';
import type { Caller } from './stand/caller.ts';
import { type Kill, killProcess, processOf } from './stand/container-process.ts';
import { Follower } from './stand/follower.ts';
import { Load, type Lost, type Outcome } from './stand/load.ts';
import { PassingNodes } from './stand/passing-nodes.ts';
import { noteRefusals, tellRefusal } from './stand/refusals.ts';
import { Release } from './stand/release.ts';

/** Ten for the promise; in CI fewer. */
const RESTARTS = Number(process.env['NODE_RESTARTS'] ?? 3);
const KILLS = 2;
const WATCHES = 50;

const GOOD = { replicaCount: 2, sessions: { store: 'kubernetes' } };
/** Two upgrades whose pods never get ready: the first waits for a Secret that is not there, the second ends at once. */
const BAD = [
  ['waiting', 'its pods wait for a Secret', { ...GOOD, users: { existingSecret: 'nosuch' } }],
  ['ending', 'its pods end at once', { ...GOOD, users: { existingSecret: 'broken' } }],
] as const;

const release = new Release('rollout');
let caller: Caller;
let password: string;
beforeAll(async () => {
  await noteRefusals();
  await release.install(GOOD);
  await release.kubectl(['create', 'secret', 'generic', 'broken', '--from-literal=users.yaml=nonsense']);
  caller = await release.caller();
  password = await release.password();
});
afterAll(() => release.remove());

/** The load, watches and changes of nodes while `work` goes on, and until every watch has seen the last node come. */
async function during(name: string, options: { tryAgain: boolean }, work: () => Promise<void>) {
  const stop = new AbortController();
  const { access_token: token } = await caller.signIn(password);
  const followers = Array.from({ length: WATCHES }, () => new Follower(caller, token));
  const following = followers.map((follower) => follower.run(stop.signal));
  const nodes = new PassingNodes(name);
  const tellMore = (error: unknown) => tellRefusal(release, error);
  const load = new Load(caller, password, { ...options, tellMore });
  try {
    const outcome = await load.during(async () => {
      const enough = new AbortController();
      const passing = nodes.run(enough.signal);
      await work().finally(() => enough.abort());
      await passing;
    });
    for (const follower of followers) await eventually(async () => gone(follower, nodes.created.at(-1)!), Boolean);
    tell(name, outcome, followers, nodes);
    return { outcome, followers, nodes };
  } finally {
    stop.abort();
    await Promise.all(following);
  }
}

const gone = ({ events }: Follower, name: string): boolean =>
  events.some(({ type, object }) => type === 'DELETED' && object.metadata.name === name);

function tell(
  name: string,
  { requests, lost, refused, deferred, longestMs }: Outcome,
  followers: Follower[],
  nodes: PassingNodes,
) {
  const streams = followers.reduce((sum, follower) => sum + follower.streams, 0);
  const parts = [
    `${requests} requests, ${lost.length} lost, ${refused} connections refused, ${deferred} told to try again, the longest ${Math.round(longestMs)} ms`,
    `${nodes.created.length} nodes came and went; ${WATCHES} watches had ${streams} streams`,
  ];
  console.log(`${name}: ${parts.join('; ')}`);
}

/** How often a watch was told that each of these nodes came, and went. */
const told = ({ events }: Follower, type: string, names: readonly string[]): number[] => {
  const counts = new Map(names.map((name) => [name, 0]));
  for (const { type: is, object } of events) {
    const count = counts.get(object.metadata.name);
    if (is === type && count !== undefined) counts.set(object.metadata.name, count + 1);
  }
  return [...counts.values()];
};

/** Events with a version that the same watch had before. */
const repeated = ({ events }: Follower): string[] => {
  const versions = events.map(({ object }) => `${object.metadata.name} ${object.metadata.resourceVersion}`);
  return versions.filter((version, index) => versions.indexOf(version) !== index);
};

const pods = async (): Promise<number> => (await release.get<{ items: object[] }>('pods')).items.length;
const isReady = ({ status }: V1Pod): boolean => status?.containerStatuses?.[0]?.ready ?? false;
const allReady = async (): Promise<boolean> => (await release.pods()).every(isReady);
const restarts = async (): Promise<number> =>
  (await release.pods()).reduce((sum, { status }) => sum + (status?.containerStatuses?.[0]?.restartCount ?? 0), 0);
const readyPods = async (): Promise<string[]> =>
  (await release.pods()).filter(isReady).map(({ metadata }) => metadata!.name!);
/** The last pods that were replaced have ended. */
const settled = (): Promise<unknown> => eventually(pods, (count) => count === 2);

const wasInFlight = (kills: readonly Kill[], { beganAt, endedAt }: Lost): boolean =>
  kills.some(({ killedAt, goneAt }) => beganAt <= goneAt && killedAt <= endedAt);

/** No watch began again, which would mean that it missed what came and went meanwhile; each was told every change once. */
function expectEachChangeOnce({ followers, nodes }: Awaited<ReturnType<typeof during>>): void {
  const once = nodes.created.map(() => 1);
  for (const follower of followers) {
    expect(follower.starts).toBe(1);
    expect(told(follower, 'ADDED', nodes.created)).toEqual(once);
    expect(told(follower, 'DELETED', nodes.created)).toEqual(once);
    expect(repeated(follower)).toEqual([]);
  }
}

describe('two replicas under load, with fifty watches', () => {
  test(`R-07 lose no request in ${RESTARTS} restarts, and each watch is told every change once`, async () => {
    const run = await during('restarts', { tryAgain: false }, async () => {
      for (let count = 0; count < RESTARTS; count++) {
        await release.kubectl(['rollout', 'restart', 'deployment/gatehouse']);
        await release.kubectl(['rollout', 'status', 'deployment/gatehouse']);
      }
      await settled();
    });
    expect(run.outcome.lost).toEqual([]);
    expect(run.outcome.requests).toBeGreaterThan(RESTARTS * 100);
    expectEachChangeOnce(run);
  });

  test('R-07 lose no request in an upgrade to another image and the rollback, and each watch is told every change once', async () => {
    const run = await during('upgrade', { tryAgain: false }, async () => {
      await release.upgrade({ ...GOOD, image: { tag: NEXT.tag } });
      await release.rollback();
      await settled();
    });
    expect(run.outcome.lost).toEqual([]);
    expectEachChangeOnce(run);
  });

  test.each(BAD)(
    'R-07 lose no request in an upgrade that never gets ready, when a serving pod is deleted (%s): %s',
    async (name, _, values) => {
      const run = await during(name, { tryAgain: false }, async () => {
        const serving = await readyPods();
        await release.change(values);
        await eventually(pods, (count) => count === 3);
        await release.kubectl(['delete', 'pod', serving[0]!]);
        await eventually(readyPods, (ready) => ready.length === 2);
        await release.rollback();
        await settled();
      });
      expect(run.outcome.lost).toEqual([]);
      expectEachChangeOnce(run);
    },
  );

  test(`R-07 lose only what was in flight when a process is killed, ${KILLS} times, and no watch misses a change`, async () => {
    const kills: Kill[] = [];
    const { outcome, followers, nodes } = await during('kills', { tryAgain: true }, async () => {
      for (let count = 0; count < KILLS; count++) {
        const before = await restarts();
        kills.push(await killProcess(await processOf((await release.pods())[count % 2]!)));
        await eventually(restarts, (restarted) => restarted > before); // until then a pod may still be told to be ready
        await eventually(allReady, Boolean);
      }
    });
    expect(outcome.lost.filter((lost) => !wasInFlight(kills, lost))).toEqual([]);
    for (const follower of followers) {
      expect(told(follower, 'ADDED', nodes.created)).not.toContain(0);
      expect(told(follower, 'DELETED', nodes.created)).not.toContain(0);
    }
  });
});
