import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  newUser,
  PASSWORD,
  type Reply,
  startWriteStand,
  USERS,
  type WriteStand,
} from '../../support/accounts/write-stand.ts';
import { eventually } from '../service/stand.ts';

const TAKEN = 'spec.email: another user has this address';
const ROUNDS = 10;

describe('one e-mail address at three replicas', () => {
  let replicas: readonly WriteStand[];
  beforeAll(async () => {
    const first = await startWriteStand();
    replicas = [first, await first.replica(), await first.replica()];
    await Promise.all(replicas.map((replica) => replica.tokenOf('admin')));
  });
  afterAll(async () => {
    const [first, ...others] = replicas;
    await Promise.all(others.map(({ gatehouse }) => gatehouse.stop()));
    await first?.stop();
  });

  const winnerOf = (answers: readonly Reply[]): number => {
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    for (const { status, body } of answers) if (status === 409) expect(body.message).toContain(TAKEN);
    return answers.findIndex(({ status }) => status === 200);
  };
  const signsInEverywhere = (username: string, status: number) =>
    Promise.all(
      replicas.map((replica) =>
        eventually(
          () => replica.signIn(username, PASSWORD),
          (answer) => answer.status === status,
        ),
      ),
    );

  test('A-41 of three creates at once one is made; the others are told, and nothing of them is left', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const email = `same-${round}@example.com`;
      const names = replicas.map((_, at) => `same-${round}-${at}`);
      const answers = await Promise.all(
        replicas.map((replica, at) =>
          // The case differs, and does not count.
          replica.create(names[at] as string, {
            spec: { email: at === 1 ? email.toUpperCase() : email, password: PASSWORD },
          }),
        ),
      );
      const winner = winnerOf(answers);
      for (const [at, name] of names.entries()) {
        const left = replicas[0]?.leftOf(name);
        expect(left?.users).toEqual(at === winner ? [name] : []);
        expect(left?.secrets).toHaveLength(at === winner ? 1 : 0);
      }
      await signsInEverywhere(names[winner] as string, 200);
      await signsInEverywhere(answers[winner]?.body.spec.email, 200);
    }
  });

  test('A-41 of three users who take one address at once one gets it; the others stay as they were', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const email = `moved-${round}@example.com`;
      const names = replicas.map((_, at) => `moved-${round}-${at}`);
      await Promise.all(names.map((name) => replicas[0]?.made(name, { spec: { password: PASSWORD } })));
      const answers = await Promise.all(
        replicas.map(async (replica, at) => {
          const { body: user } = await eventually(
            () => replica.ask('GET', `${USERS}/${names[at]}`),
            ({ body }) => body.status?.state === 'Active' && !('incomplete' in body.metadata.annotations),
          );
          return { replica, user };
        }),
      ).then((ready) =>
        Promise.all(
          ready.map(({ replica, user }) =>
            replica.ask('PUT', `${USERS}/${user.metadata.name}`, {
              body: { ...user, spec: { ...user.spec, email } },
            }),
          ),
        ),
      );
      const winner = winnerOf(answers);
      for (const [at, name] of names.entries()) {
        const stored = replicas[0]?.cluster.objects.get('users', name)?.['spec'] as { email: string };
        expect(stored.email).toBe(at === winner ? email : `${name}@example.com`);
      }
      await signsInEverywhere(email, 200);
    }
  });

  test('A-41 an address is free again when its user is gone', async () => {
    const [first, second] = replicas as [WriteStand, WriteStand];
    await first.made('free-a', { spec: { email: 'free@example.com' } });
    await first.ask('DELETE', `${USERS}/free-a`);
    const again = await eventually(
      () => second.ask('POST', USERS, { body: newUser('free-b', { spec: { email: 'free@example.com' } }) }),
      ({ status }) => status !== 409,
    );
    expect(again.status).toBe(200);
  });
});
