import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { kidOf } from './load.ts';
import type { Person, Replica } from './replica.ts';
import { type Replicas, startReplicas } from './replicas.ts';
import { BROWSER_CLIENT, type IssuedCode, newCode, SignInBrowser } from './sign-in-browser.ts';

/** As far apart as the configuration allows by default (`maximumClockSkew`). */
const AHEAD_MS = [0, 10_000, 5_000];
const PEOPLE = 6;

describe('a sign-in by browser whose steps are served by three processes with clocks 10 s apart', () => {
  let cluster: ControlPlane;
  let replicas: Replicas;
  beforeAll(async () => {
    cluster = await startControlPlane();
    const oauthOptions = { clients: [BROWSER_CLIENT] };
    replicas = await startReplicas(cluster, { people: PEOPLE, aheadMs: AHEAD_MS, shutdownDelay: '3s', oauthOptions });
  });
  afterAll(async () => {
    await replicas?.stop();
    await cluster?.stop();
  });

  const person = (index: number): Person => replicas.people[index % PEOPLE] as Person;

  /** The tokens of this code. All processes take them, and the session can be refreshed at each. */
  async function redeemed(at: Replica, code: IssuedCode) {
    const { status, body, text } = await at.token({ ...code });
    expect([status, text]).toEqual([200, expect.stringContaining('access_token')]);
    const judged = await Promise.all(replicas.all.map((replica) => replica.judge(body.access_token)));
    expect(judged).toEqual([200, 200, 200]);
    return body as { readonly access_token: string; readonly refresh_token: string; readonly id_token: string };
  }

  /** A page by this process. */
  async function opened(at: Replica): Promise<SignInBrowser> {
    const browser = new SignInBrowser();
    expect(await browser.open(at)).toBe(200);
    return browser;
  }

  /** Ends a process by SIGTERM, as a rollout does, and starts another in its place. */
  async function replaced(replica: Replica): Promise<void> {
    await replica.terminate();
    await replica.start();
  }

  test.each(AHEAD_MS)('B-21 a process is %i ms ahead of the machine', async (aheadMs) => {
    const replica = replicas.all[AHEAD_MS.indexOf(aheadMs)] as Replica;
    const seconds = (): number => Math.floor((Date.now() + aheadMs) / 1_000);
    const before = seconds();
    const { iat = 0 } = decodeJwt((await replica.signIn(person(0))).access_token);
    expect([before <= iat, iat <= seconds()]).toEqual([true, true]);
  });

  test('B-21 any process serves any step: all 27 ways', async () => {
    const ways = replicas.all.flatMap((page) =>
      replicas.all.flatMap((form) => replicas.all.map((token) => ({ page, form, token }))),
    );
    const tokens = await Promise.all(
      ways.map(async ({ page, form, token }, index) => redeemed(token, await newCode(page, form, person(index)))),
    );
    const refreshed = await Promise.all(
      tokens.map(({ refresh_token }, index) => (replicas.all[index % 3] as Replica).refresh(refresh_token)),
    );
    expect(refreshed.map(({ status }) => status)).toEqual(Array(27).fill(200));
  });

  test('B-21 the process that showed the page, and the one that took the form, are replaced before the next step', async () => {
    const [first, second, third] = replicas.all;
    const browser = await opened(first);
    await first.terminate();
    const code = await browser.submit(second, person(0));
    await second.terminate();
    await redeemedAlone(third, code);
    await Promise.all([first.start(), second.start()]);
    const again = await opened(first);
    await replaced(first);
    // The end is asked for while the password is compared.
    const [sameAddress] = await Promise.all([again.submit(first, person(1)), replaced(first)]);
    await redeemed(first, sameAddress);
  });

  /** Redeems a code while the other processes are away. */
  async function redeemedAlone(at: Replica, code: IssuedCode): Promise<void> {
    const { status, body } = await at.token({ ...code });
    expect([status, await at.judge(body.access_token)]).toEqual([200, 200]);
  }

  test('B-21 a rollout of all three loses no sign-in that is under way', async () => {
    const serving = new Set(replicas.all);
    let turn = 0;
    /** As a balancer does it, which sends nothing to a process that ends. */
    const next = (): Replica => [...serving][turn++ % serving.size] as Replica;
    let isOver = false;
    let completed = 0;
    const signInUntilOver = async (who: Person): Promise<void> => {
      while (!isOver) {
        const browser = await opened(next());
        const code = await browser.submit(next(), who);
        await redeemedAlone(next(), code);
        completed++;
      }
    };
    const people = Promise.all([0, 1, 2].map((index) => signInUntilOver(person(index))));
    const rollout = async (): Promise<void> => {
      for (const replica of replicas.all) {
        const before = completed;
        serving.delete(replica);
        await replaced(replica);
        serving.add(replica);
        await eventually(
          async () => completed,
          (now) => now > before + 3,
        );
      }
    };
    // A sign-in that fails ends the wait for the rollout at once.
    await Promise.race([rollout(), people]);
    isOver = true;
    await people;
    console.log(`${completed} sign-ins by browser during a rollout of three processes`);
    expect(completed).toBeGreaterThan(9);
  });

  /** Makes a new signing key the active one, by the commands of an operator. Answers its kid. */
  async function rotateKeys(): Promise<string> {
    const [, kid = ''] = /the next signing key (\S+)/.exec(await replicas.keys('rotate')) ?? [];
    const published = () => Promise.all(replicas.all.map((replica) => replica.kids()));
    await eventually(published, (lists) => lists.every((kids) => kids.includes(kid)));
    expect(await replicas.keys('rotate', '--now')).toContain(`the signing key ${kid} signs from now on`);
    const signsEverywhere = () =>
      Promise.all(replicas.all.map(async (replica) => kidOf((await replica.signIn(person(5))).access_token)));
    await eventually(signsEverywhere, (kids) => kids.every((signer) => signer === kid));
    return kid;
  }

  test('B-21 the signing keys are rotated between page and form, and between form and redemption', async () => {
    const [first, second, third] = replicas.all;
    const browser = await opened(first);
    await rotateKeys();
    const code = await browser.submit(second, person(3));
    const kid = await rotateKeys();
    const tokens = await redeemed(third, code);
    expect([kidOf(tokens.access_token), kidOf(tokens.id_token)]).toEqual([kid, kid]);
    expect((await first.token({ ...code })).body.error).toBe('invalid_grant');
  });

  test('B-40 a code ends with the key that is revoked, and the page does not', async () => {
    const [first, second, third] = replicas.all;
    const browser = await opened(first);
    const code = await browser.submit(second, person(4));
    const revoked = kidOf((await first.signIn(person(4))).access_token);
    await replicas.keys('revoke', revoked);
    const kids = () => Promise.all(replicas.all.map((replica) => replica.kids()));
    await eventually(kids, (lists) => lists.every((list) => !list.includes(revoked)));
    expect((await third.token({ ...code })).body.error).toBe('invalid_grant');
    await redeemed(first, await browser.submit(third, person(4)));
  });
});
