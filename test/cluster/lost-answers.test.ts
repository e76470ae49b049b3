import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../support/control-plane/clients.ts';
import { type ServerProcess, startServer } from '../support/control-plane/server-process.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { type ApiServerProxy, startApiServerProxy } from './api-server-proxy.ts';
import { eventually } from './eventually.ts';
import type { Pair, Person, Replica } from './replica.ts';
import { type Replicas, startReplicas } from './replicas.ts';
import { expectUnusableSecrets } from './unusable-secrets.ts';

const RECORDS = 'gatehouse-sessions-';
const KEYS = 'gatehouse-signing-keys';

const generationOf = ({ refresh_token: token }: Pair): number =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).gen;

/** The first of three processes speaks to the API server through the proxy. */
describe('a write whose answer gets lost, on a real cluster', () => {
  let cluster: ControlPlane;
  let proxy: ApiServerProxy;
  let replicas: Replicas;
  let [first, second, third] = [] as unknown as [Replica, Replica, Replica];
  let nextPerson = 0;

  beforeAll(async () => {
    cluster = await startControlPlane();
    proxy = await startApiServerProxy(cluster);
    replicas = await startReplicas(cluster, { people: 12, apiServers: { 0: proxy.url } });
    [first, second, third] = replicas.all;
  });
  afterAll(async () => {
    await replicas?.stop();
    await proxy?.stop();
    await cluster?.stop();
  });

  const newPerson = (): Person => replicas.people[nextPerson++]!;
  const tokensOf = async (replica: Replica, token: string): Promise<Pair> => (await replica.refresh(token)).body;
  const judgedBy = (list: readonly Replica[], { access_token: token }: Pair): Promise<number[]> =>
    Promise.all(list.map((replica) => replica.judge(token)));
  const refusedBy = (list: readonly Replica[], pair: Pair): Promise<number[]> =>
    eventually(
      () => judgedBy(list, pair),
      (statuses) => statuses.every((status) => status === 401),
    );
  /** The status; undefined if the process died during the request. */
  const outcomeOf = async (answer: Promise<{ readonly status: number }>): Promise<number | undefined> =>
    (await answer.catch(() => undefined))?.status;

  describe('C-36 when the process is killed between the write and its answer', () => {
    test.each([
      ['first', 0],
      ['third', 2],
    ])('the %s refresh of a session is retried elsewhere, and has one outcome', async (_, before) => {
      let pair = await second.signIn(newPerson());
      for (let count = 0; count < before; count++) pair = await tokensOf(second, pair.refresh_token);
      const lost = proxy.loseWrite(RECORDS, { arrives: true, onLoss: first.kill });
      expect(await outcomeOf(first.refresh(pair.refresh_token))).toBeUndefined();
      await lost;
      const next = await tokensOf(second, pair.refresh_token);
      expect(generationOf(next)).toBe(before + 1);
      expect(await tokensOf(third, pair.refresh_token)).toMatchObject({ refresh_token: next.refresh_token });
      await first.start();
      expect(await tokensOf(first, pair.refresh_token)).toMatchObject({ refresh_token: next.refresh_token });
      expect(generationOf(await tokensOf(first, next.refresh_token))).toBe(before + 2);
    });

    test('a revocation stands without a retry, and with one', async () => {
      const person = newPerson();
      const [pair, other] = [await second.signIn(person), await second.signIn(person)];
      const lost = proxy.loseWrite(RECORDS, { arrives: true, onLoss: first.kill });
      expect(await outcomeOf(first.revoke(pair.refresh_token))).toBeUndefined();
      await lost;
      expect(await refusedBy([second, third], pair)).toEqual([401, 401]);
      expect((await second.revoke(pair.refresh_token)).status).toBe(200);
      expect((await third.refresh(pair.refresh_token)).status).toBe(400);
      await first.start();
      expect(await judgedBy(replicas.all, pair)).toEqual([401, 401, 401]);
      expect(await judgedBy(replicas.all, other)).toEqual([200, 200, 200]);
    });

    test('a sign-out of all sessions stands without a retry, and the user can sign in again', async () => {
      const person = newPerson();
      const pairs = [await first.signIn(person), await second.signIn(person)];
      const lost = proxy.loseWrite(RECORDS, { arrives: true, onLoss: first.kill });
      expect(await outcomeOf(first.logout(pairs[0]!.access_token, '?all=true'))).toBeUndefined();
      await lost;
      for (const pair of pairs) expect(await refusedBy([second, third], pair)).toEqual([401, 401]);
      await first.start();
      const since = await third.signIn(person);
      expect(await judgedBy(replicas.all, since)).toEqual([200, 200, 200]);
      for (const pair of pairs) expect(await judgedBy(replicas.all, pair)).toEqual([401, 401, 401]);
    });
  });

  test('C-36 a refresh whose process is killed before the write arrives never was: the retry is the first', async () => {
    const pair = await second.signIn(newPerson());
    const lost = proxy.loseWrite(RECORDS, { arrives: false, onLoss: first.kill });
    expect(await outcomeOf(first.refresh(pair.refresh_token))).toBeUndefined();
    await lost;
    const next = await tokensOf(second, pair.refresh_token);
    expect(generationOf(next)).toBe(1);
    await first.start();
    expect(await tokensOf(first, pair.refresh_token)).toMatchObject({ refresh_token: next.refresh_token });
  });

  test('N-24 T-12 C-36 a refresh whose write cannot be confirmed is 503, and the retry has the one outcome anywhere', async () => {
    const pair = await second.signIn(newPerson());
    const lost = proxy.loseWrite(RECORDS, { arrives: true });
    const refused = await first.refresh(pair.refresh_token);
    await lost;
    expect([refused.status, refused.body.error]).toEqual([503, 'server_error']);
    const next = await tokensOf(first, pair.refresh_token);
    expect(generationOf(next)).toBe(1);
    for (const replica of [second, third])
      expect(await tokensOf(replica, pair.refresh_token)).toMatchObject({ refresh_token: next.refresh_token });
  });

  test('T-14 C-36 a reuse that was refused ends the session, although the answer to the write was lost', async () => {
    const pair = await second.signIn(newPerson());
    const next = await tokensOf(second, (await tokensOf(second, pair.refresh_token)).refresh_token);
    await tokensOf(first, next.refresh_token); // its compare-and-swap makes sure that the first one knows of them all
    const lost = proxy.loseWrite(RECORDS, { arrives: true });
    expect((await first.refresh(pair.refresh_token)).status).toBe(400);
    await lost;
    expect(await refusedBy(replicas.all, next)).toEqual([401, 401, 401]);
  });

  describe('C-37 while one process is cut off from the API server', () => {
    test('it serves whoever is known and changes nothing; the others serve; it learns what it missed', async () => {
      const person = newPerson();
      const [kept, ended] = [await first.signIn(person), await first.signIn(person)];
      proxy.cut();
      expect(await first.isReady()).toBe(true);
      const refused = await first.refresh(kept.refresh_token);
      expect([refused.status, refused.body.error]).toEqual([503, 'server_error']);
      expect((await first.logout(ended.access_token)).status).toBe(503);
      // Nothing was ended, so nothing is refused. This replica cannot know what another one ends, for at most
      // `authorization.maxStaleness`.
      expect(await judgedBy(replicas.all, ended)).toEqual([200, 200, 200]);
      expect((await second.logout(ended.access_token)).status).toBe(200);
      expect(await refusedBy([third], ended)).toEqual([401]);
      const next = await tokensOf(second, kept.refresh_token);
      expect(generationOf(next)).toBe(1);
      expect(await judgedBy([first], next)).toEqual([200]);
      proxy.heal();
      expect(await refusedBy([first], ended)).toEqual([401]);
      expect(await tokensOf(first, kept.refresh_token)).toMatchObject({ refresh_token: next.refresh_token });
    });
  });

  describe('C-36 of a change of the signing keys', () => {
    /** Runs the operator's command through the proxy and kills it when its write has taken effect. */
    async function killedOver(...args: readonly string[]): Promise<void> {
      const command = await replicas.keysCommand(proxy.url);
      const program = { run: undefined as ServerProcess | undefined };
      const lost = proxy.loseWrite(KEYS, { arrives: true, onLoss: async () => program.run?.kill() });
      program.run = startServer(process.execPath, [...command, ...args], '/dev/null');
      await lost;
    }
    const states = async (): Promise<string[]> => {
      const lines = (await replicas.keys('list')).trimEnd().split('\n').slice(1);
      return lines.map((line) => line.split(/ +/)[1] ?? '');
    };
    const activeKid = async (): Promise<string> =>
      /^(\S+) +active/m.exec(await replicas.keys('list'))?.[1] ?? 'there is none';

    test('a publication that was killed is found by its repetition, and not made twice', async () => {
      await killedOver('rotate');
      expect(await replicas.keys('rotate')).toMatch(/^the next signing key [\w-]{43} was published before\n/);
      expect(await states()).toEqual(['active', 'next']);
    });

    test('an activation that was killed stands, with one active key, and every token is good everywhere', async () => {
      const before = await second.signIn(newPerson());
      await killedOver('rotate', '--now');
      expect(await states()).toEqual(['verify-only', 'active']);
      const after = await Promise.all(replicas.all.map((replica) => replica.signIn(replicas.people[0]!)));
      for (const pair of [before, ...after]) expect(await judgedBy(replicas.all, pair)).toEqual([200, 200, 200]);
    });

    test('an activation whose connection was cut is confirmed by a read', async () => {
      await replicas.keys('rotate');
      const lost = proxy.loseWrite(KEYS, { arrives: true });
      const command = await replicas.keysCommand(proxy.url);
      const output = await runTool(process.execPath, [...command, 'rotate', '--now']);
      await lost;
      expect(output).toContain(`the signing key ${await activeKid()} signs from now on`);
      expect(await states()).toEqual(['verify-only', 'verify-only', 'active']);
    });

    test('a revocation that was killed stands, and its repetition says so', async () => {
      const kid = await activeKid();
      const pair = await second.signIn(replicas.people[1]!);
      await killedOver('revoke', kid);
      expect(await refusedBy(replicas.all, pair)).toEqual([401, 401, 401]);
      const active = await activeKid();
      expect(active).not.toBe(kid);
      expect(await replicas.keys('revoke', kid)).toContain(`the signing key ${kid} was revoked before`);
      expect(await activeKid()).toBe(active);
    });
  });

  test('Secrets hold nothing that could be used', () => expectUnusableSecrets(cluster, replicas));
});
