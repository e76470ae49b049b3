import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import type { Person, Replica } from './replica.ts';
import { type Replicas, startReplicas } from './replicas.ts';
import { BROWSER_CLIENT, newCode } from './sign-in-browser.ts';
import { expectUnusableSecrets } from './unusable-secrets.ts';

/** `npm run test:code-races` has 1,000. A race costs a password compare, 50 ms of a core. */
const RACES = Number(process.env['CODE_RACES'] ?? 50);
/** So many races run beside each other, each of another person. */
const PEOPLE = 20;
/** Many times what 1,000 races take. */
const LIMIT_MS = 900_000;

describe('an authorization code that is redeemed at the same time at three processes with clocks 10 s apart', () => {
  let cluster: ControlPlane;
  let replicas: Replicas;
  beforeAll(async () => {
    cluster = await startControlPlane();
    const oauthOptions = { clients: [BROWSER_CLIENT] };
    replicas = await startReplicas(cluster, { people: PEOPLE, aheadMs: [0, 10_000, 5_000], oauthOptions });
  });
  afterAll(async () => {
    await replicas?.stop();
    await cluster?.stop();
  });

  const turn = (race: number): Replica => replicas.all[race % 3] as Replica;

  /** The answers to one code, which the three processes get at once; page and form were those of two of them. */
  async function race(index: number, person: Person) {
    const code = await newCode(turn(index), turn(index + 1), person);
    return Promise.all(replicas.all.map((replica) => replica.token({ ...code })));
  }

  const isRefusedBy = (replica: Replica, token: string): Promise<boolean> =>
    replica.judge(token).then((status) => status === 401);

  /** Resolves when no process takes these tokens any more. */
  async function untilEnded(access: string, refresh: string): Promise<void> {
    const refusals = () => Promise.all(replicas.all.map((replica) => isRefusedBy(replica, access)));
    await eventually(refusals, (refused) => refused.every(Boolean));
    const again = await Promise.all(replicas.all.map((replica) => replica.refresh(refresh)));
    expect(again.map(({ status, body }) => `${status} ${body.error}`)).toEqual(Array(3).fill('400 invalid_grant'));
  }

  test(`B-42 ${RACES} races: one 200 each, 400 invalid_grant for the others, and the session has ended`, {
    timeout: LIMIT_MS,
  }, async () => {
    const began = performance.now();
    const winners = [0, 0, 0];
    let next = 0;
    const racing = async (person: Person): Promise<void> => {
      for (let index = next++; index < RACES; index = next++) {
        const answers = await race(index, person);
        const words = answers.map(({ status, body }) => (status === 200 ? '200' : `${status} ${body.error}`));
        expect(words.toSorted(), `race ${index}`).toEqual(['200', '400 invalid_grant', '400 invalid_grant']);
        const winner = answers.findIndex(({ status }) => status === 200);
        winners[winner] = (winners[winner] ?? 0) + 1;
        await untilEnded(answers[winner]?.body.access_token, answers[winner]?.body.refresh_token);
      }
    };
    await Promise.all(replicas.people.map(racing));
    const seconds = Math.round((performance.now() - began) / 1_000);
    console.log(`${RACES} races for a code at three processes in ${seconds} s, won by ${winners.join(', ')}`);
    expect(winners.reduce((sum, won) => sum + won)).toBe(RACES);
  });

  test('B-42 a code that is used again a moment later, at another process, ends its session', async () => {
    const [person] = replicas.people as [Person];
    const code = await newCode(turn(0), turn(1), person);
    const first = await turn(2).token({ ...code });
    expect(first.status).toBe(200);
    const answers = await Promise.all([0, 1, 2].map((index) => turn(index).token({ ...code })));
    expect(answers.map(({ status, body }) => `${status} ${body.error}`)).toEqual(Array(3).fill('400 invalid_grant'));
    await untilEnded(first.body.access_token, first.body.refresh_token);
  });

  test('B-42 two codes of one person that are raced for at once give one session each', async () => {
    const [, person] = replicas.people as [Person, Person];
    const codes = [await newCode(turn(0), turn(1), person), await newCode(turn(1), turn(2), person)];
    const races = codes.map((code) => Promise.all(replicas.all.map((replica) => replica.token({ ...code }))));
    for (const answers of await Promise.all(races))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
  });

  test('Secrets hold nothing that could be used', () => expectUnusableSecrets(cluster, replicas));
});
