import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../dev/cluster/seeded-random.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { NAMESPACE } from './installation.ts';
import type { Pair, Person, Replica } from './replica.ts';
import { type Replicas, startReplicas } from './replicas.ts';
import { expectUnusableSecrets } from './unusable-secrets.ts';

const SEED = Date.now() % 1_000_000;

/**
 * R-06 asks for 200 races, as `npm run test:replicas` has. A busy machine does as many as the time below allows. A session rotates ten times
 * a minute (T-02).
 */
const RACES = Number(process.env['SESSION_RACES'] ?? 60);
const RACING_SESSIONS = 25;
const RACING_MS = 45_000;

describe(`sessions of three processes on a real cluster (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  let cluster: ControlPlane;
  let replicas: Replicas;
  /** Sessions that must go on, each with its newest pair, and sessions that have ended. */
  const live: Pair[] = [];
  const ended: Pair[] = [];

  beforeAll(async () => {
    cluster = await startControlPlane();
    replicas = await startReplicas(cluster, { people: 20, oauthOptions: { refreshReplayWindow: '15s' } });
  });
  afterAll(async () => {
    await replicas?.stop();
    await cluster?.stop();
  });

  const anyReplica = (): Replica => replicas.all[Math.floor(random.fraction() * 3)]!;
  const person = (index: number): Person => replicas.people[index]!;
  const begin = (count: number, user: (index: number) => Person): Promise<Pair[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => anyReplica().signIn(user(index))));
  const refreshed = async (token: string): Promise<Pair> => {
    const { status, body, text } = await anyReplica().refresh(token);
    if (status !== 200) throw new Error(`a refresh was answered ${status} ${text}`);
    return body as Pair;
  };
  const statusesOf = ({ access_token: token }: Pair): Promise<number[]> =>
    Promise.all(replicas.all.map((replica) => replica.judge(token)));
  const refusals = async ({ refresh_token: token }: Pair): Promise<string[]> => {
    const answers = await Promise.all(replicas.all.map((replica) => replica.refresh(token)));
    return answers.map(({ status, body }) => `${status} ${body.error}`);
  };
  const isOverEverywhere = (statuses: readonly number[]): boolean => statuses.every((status) => status === 401);
  const OVER = ['400 invalid_grant', '400 invalid_grant', '400 invalid_grant'];

  test('R-05 that start together agree on one signing key', async () => {
    const kids = await Promise.all(replicas.all.map((replica) => replica.kids()));
    expect(kids[0]).toHaveLength(1);
    expect(kids).toEqual([kids[0], kids[0], kids[0]]);
  });

  let waiting: { readonly first: Pair; readonly second: Pair };

  test('R-06 T-11 T-13 answer 50 parallel refreshes of one token with one pair, and the next refresh is of that one', async () => {
    const first = await anyReplica().signIn(person(6));
    waiting = { first, second: await refreshed(first.refresh_token) };
    const racing = await begin(RACING_SESSIONS, (index) => person(index % 6));
    const giveUpAt = performance.now() + RACING_MS;
    let races = 0;
    for (; races < RACES && performance.now() < giveUpAt; races++) {
      const session = races % RACING_SESSIONS;
      const { refresh_token: token } = racing[session]!;
      const answers = await Promise.all(Array.from({ length: 50 }, () => anyReplica().refresh(token)));
      const outcomes = new Set(
        answers.map(({ status, body }) => `${status} ${body.access_token} ${body.refresh_token}`),
      );
      expect([...outcomes], `race ${races}`).toHaveLength(1);
      expect(answers[0]?.status).toBe(200);
      racing[session] = answers[0]?.body;
    }
    console.log(`seed ${SEED}: ${races} races of 50 refreshes over 3 processes, one successor each`);
    expect(races).toBeGreaterThan(0);
    live.push(...racing);
  });

  test('R-06 lose none of two sessions of one user that are refreshed at once', async () => {
    for (let round = 0; round < 10; round++) {
      const pairs = await Promise.all([0, 1].map((index) => replicas.all[index]!.signIn(person(7))));
      const next = await Promise.all(pairs.map(({ refresh_token: token }) => refreshed(token)));
      const last = await Promise.all(next.map(({ refresh_token: token }) => refreshed(token)));
      // A replay would show that a record was overwritten: the same pair could not be made again.
      const again = await Promise.all(next.map(({ refresh_token: token }) => refreshed(token)));
      expect(again.map((pair) => pair.refresh_token)).toEqual(last.map((pair) => pair.refresh_token));
      if (round % 2 === 0) live.push(...last);
    }
  });

  test('N-21 T-14 end a session everywhere when its token comes again after the replay window, and none of the user’s others', async () => {
    const { first, second } = waiting;
    const other = await anyReplica().signIn(person(6));
    const replayed = await eventually(
      () => anyReplica().refresh(first.refresh_token),
      ({ status, body }) => status !== 200 || body.refresh_token !== second.refresh_token,
    );
    expect(`${replayed.status} ${replayed.body.error}`).toBe('400 invalid_grant');
    await eventually(() => statusesOf(second), isOverEverywhere);
    expect(await refusals(second)).toEqual(OVER);
    expect(await statusesOf(other)).toEqual([200, 200, 200]);
    ended.push(first, second);
    live.push(other);
  });

  test('T-15 take a refresh token at its word when the record was lost, and give it one successor', async () => {
    const session = await refreshed((await anyReplica().signIn(person(8))).refresh_token);
    const selector = '-l=app.kubernetes.io/component=sessions';
    const names = await cluster.kubectl(['-n', NAMESPACE, 'get', 'secrets', selector, '-o', 'json']);
    const { items } = JSON.parse(names) as { items: { metadata: { name: string }; data: { user: string } }[] };
    const record = items.find(({ data }) => Buffer.from(data.user, 'base64').toString() === person(8).name);
    await cluster.kubectl(['-n', NAMESPACE, 'delete', 'secret', record!.metadata.name]);
    const answers = await Promise.all(replicas.all.map((replica) => replica.refresh(session.refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    live.push(await refreshed(answers[0]?.body.refresh_token));
  });

  describe('that end one', () => {
    /** Milliseconds from the answer of one process to the refusal of another: one entry a token and process. */
    const lags: number[] = [];
    const LOOK_MS = 10;
    const LONGEST_MS = 30_000;

    const observe = async (replica: Replica, token: string, since: number): Promise<void> => {
      while ((await replica.judge(token)) !== 401) {
        if (performance.now() - since > LONGEST_MS) throw new Error('a session goes on that was ended');
        await sleep(LOOK_MS);
      }
      lags.push(performance.now() - since);
    };
    const observeOthers = async (tokens: readonly Pair[], endedAt: Replica | undefined): Promise<void> => {
      const since = performance.now();
      const others = replicas.all.filter((replica) => replica !== endedAt);
      const looks = tokens.flatMap(({ access_token: token }) => others.map((one) => observe(one, token, since)));
      await Promise.all(looks);
      ended.push(...tokens);
    };
    const ENDS: Record<string, (replica: Replica, session: Pair) => Promise<number>> = {
      'a sign-out': async (replica, session) => (await replica.logout(session.access_token)).status,
      'a revoked access token': async (replica, session) => (await replica.revoke(session.access_token)).status,
      'a revoked refresh token': async (replica, session) => (await replica.revoke(session.refresh_token)).status,
      'a reused refresh token': async (replica, session) => {
        // A replica decides by its memory. The write of a rotation makes sure that this one knows of both.
        const { body } = await replica.refresh((await refreshed(session.refresh_token)).refresh_token);
        expect(body).toHaveProperty('refresh_token');
        return (await replica.refresh(session.refresh_token)).status;
      },
    };

    test.each(Object.entries(ENDS))('N-48 T-16 %s is seen by the others', async (how, end) => {
      for (const session of await begin(24, (index) => person(9 + (index % 3)))) {
        const replica = anyReplica();
        expect(await end(replica, session)).toBe(how === 'a reused refresh token' ? 400 : 200);
        expect(await replica.judge(session.access_token)).toBe(401);
        await observeOthers([session], replica);
      }
    });

    test('N-48 T-16 a sign-out of all sessions is seen by the others', async () => {
      for (const index of [12, 13, 14, 15]) {
        const sessions = await begin(4, () => person(index));
        const replica = anyReplica();
        expect((await replica.logout(sessions[0]!.access_token, '?all=true')).status).toBe(200);
        await observeOthers(sessions, replica);
        live.push(await anyReplica().signIn(person(index)));
      }
    });

    test('T-16 a user who is Disabled in the file is refused by all', async () => {
      const sessions = await begin(8, (index) => person(16 + (index % 2)));
      await replicas.disable([person(16).name, person(17).name]);
      await observeOthers(sessions, undefined);
    });

    // The one place that asserts on real time: "within 5 s" is what R-06 promises, some hundred times what it takes.
    test('R-06 are followed by the others within 5 s at the 99th percentile', () => {
      const sorted = lags.toSorted((a, b) => a - b);
      const quantile = (q: number): number => Math.round(sorted[Math.ceil(q * sorted.length) - 1] ?? Number.NaN);
      const figures = `p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms, longest ${quantile(1)} ms`;
      console.log(`seed ${SEED}: ${sorted.length} ends of sessions seen by another process: ${figures}`);
      expect(sorted.length).toBeGreaterThan(200);
      expect(quantile(0.99)).toBeLessThanOrEqual(5_000);
    });
  });

  test('T-17 keep every session, and every end of one, through a SIGKILL of all three', async () => {
    await Promise.all(replicas.all.map((replica) => replica.kill()));
    await Promise.all(replicas.all.map((replica) => replica.start()));
    for (const session of live) {
      expect(await statusesOf(session)).toEqual([200, 200, 200]);
      const next = await refreshed(session.refresh_token);
      expect((await anyReplica().refresh(session.refresh_token)).body.refresh_token).toBe(next.refresh_token);
    }
    for (const session of ended) {
      expect(await statusesOf(session)).toEqual([401, 401, 401]);
      expect(await refusals(session)).toEqual(OVER);
    }
    console.log(`${live.length} sessions kept, ${ended.length} ends kept`);
  });

  test('Secrets hold nothing that could be used', () => expectUnusableSecrets(cluster, replicas));
});
