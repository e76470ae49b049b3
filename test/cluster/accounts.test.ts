import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../dev/cluster/seeded-random.ts';
import { hashPassword } from '../../src/users/password-hash.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { readEtcd } from './etcd-dump.ts';
import { eventually } from './eventually.ts';
import { NAMESPACE } from './installation.ts';
import type { Person, Replica } from './replica.ts';
import { type Replicas, startReplicas } from './replicas.ts';

const SEED = Date.now() % 1_000_000;
const USERS = '/kapis/iam.gatehouse.io/v1alpha2/users';
const ROLE = 'iam.gatehouse.io/globalrole';

/** How often each change and each race is tried. */
const TIMES = 6;

/** What a change may take to count on every replica. */
const REACHES_ALL_MS = 5_000;

describe(`users as objects, three processes on a real cluster (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  let cluster: ControlPlane;
  let replicas: Replicas;
  let admin: Person;
  let token: string;
  let made = 0;
  /** Every password that was ever sent. */
  const passwords = new Set<string>();

  beforeAll(async () => {
    cluster = await startControlPlane();
    replicas = await startReplicas(cluster, { people: 1, accounts: true });
    admin = { name: 'admin', password: await readAdminPassword(cluster) };
    // Another replica may learn of the administrator's object a moment later, and then ends what was begun before.
    const own = () => Promise.all(replicas.all.map((replica) => replica.signInAnswer(admin)));
    await eventually(own, (answers) => answers.every(({ status }) => status === 200));
    token = (await anyReplica().signIn(admin)).access_token;
    // The policy and the roles are in force a moment after they were made.
    await eventually(
      () => anyReplica().call(USERS, { token, json: userOf(newPerson(), { role: 'platform-regular' }) }),
      ({ status }) => status === 200,
    );
  });
  afterAll(async () => {
    await replicas?.stop();
    await cluster?.stop();
  });

  const anyReplica = (): Replica => replicas.all[Math.floor(random.fraction() * 3)]!;
  const newPassword = (): string => {
    const password = `Aa1-${randomBytes(9).toString('hex')}`;
    passwords.add(password);
    return password;
  };
  const newPerson = (): Person => ({ name: `user-${made++}`, password: newPassword() });
  const userOf = ({ name, password }: Person, { role = '', email = `${name}@example.com` } = {}): object => ({
    metadata: { name, ...(role && { annotations: { [ROLE]: role } }) },
    spec: { email, password },
  });
  const create = async (person: Person, more: { readonly role?: string; readonly email?: string } = {}) => {
    const answer = await anyReplica().call(USERS, { token, json: userOf(person, more) });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const get = async (name: string, replica = anyReplica()) => (await replica.call(`${USERS}/${name}`, { token })).body;
  const onAll = <T>(ask: (replica: Replica) => Promise<T>): Promise<T[]> => Promise.all(replicas.all.map(ask));
  const signsInOnAll = async (person: Person, all: readonly Replica[] = replicas.all): Promise<void> => {
    await eventually(
      () => Promise.all(all.map(async (replica) => (await replica.signInAnswer(person)).status)),
      (statuses) => statuses.every((status) => status === 200),
    );
  };

  /** Sends the user back with a change; again when the time of the last sign-in was written in between. */
  // biome-ignore lint/suspicious/noExplicitAny: the answer of the server under test
  async function change(name: string, by: (user: any) => object): Promise<void> {
    const answer = await eventually(
      async () => {
        const user = await get(name);
        return anyReplica().call(`${USERS}/${name}`, { token, method: 'PUT', json: { ...user, ...by(user) } });
      },
      ({ status }) => status !== 409,
    );
    expect(answer.status, answer.text).toBe(200);
  }

  /** Makes the change and answers how long it takes until every replica shows it. */
  async function timeUntilAll(act: () => Promise<void>, isSeen: (replica: Replica) => Promise<boolean>) {
    await act();
    const since = performance.now();
    await eventually(
      () => onAll(isSeen),
      (seen) => seen.every(Boolean),
    );
    return performance.now() - since;
  }

  describe('R-05 reaches every replica within 5 s', () => {
    const slowest: Record<string, number> = {};

    async function measured(
      what: string,
      change: (person: Person, bearer: string) => Promise<void>,
      isSeen: (replica: Replica, person: Person, bearer: string) => Promise<boolean>,
    ): Promise<void> {
      const times: number[] = [];
      for (let time = 0; time < TIMES; time++) {
        const person = newPerson();
        await create(person);
        await signsInOnAll(person);
        const bearer = (await anyReplica().signIn(person)).access_token;
        times.push(
          await timeUntilAll(
            () => change(person, bearer),
            (replica) => isSeen(replica, person, bearer),
          ),
        );
      }
      slowest[what] = Math.round(Math.max(...times));
      expect(slowest[what]).toBeLessThan(REACHES_ALL_MS);
    }

    test('AC-35 a disable: tokens die and nobody signs in', async () => {
      await measured(
        'disable',
        async ({ name }) => {
          await change(name, () => ({ status: { state: 'Disabled' } }));
        },
        async (replica, person, bearer) =>
          (await replica.judge(bearer)) === 401 && (await replica.signInAnswer(person)).status === 400,
      );
    });

    test('AC-50 a delete: tokens die and nobody signs in', async () => {
      await measured(
        'delete',
        async ({ name }) => {
          expect((await anyReplica().call(`${USERS}/${name}`, { token, method: 'DELETE' })).status).toBe(200);
        },
        async (replica, person, bearer) =>
          (await replica.judge(bearer)) === 401 && (await replica.signInAnswer(person)).status === 400,
      );
    });

    test('AC-60 a password change: tokens of other sessions die, the old password lets nobody in, the new one does', async () => {
      const fresh = new Map<string, string>();
      await measured(
        'password',
        async (person) => {
          const { name, password: currentPassword } = person;
          const own = (await anyReplica().signIn(person)).access_token;
          const password = newPassword();
          fresh.set(name, password);
          const path = `${USERS}/${name}/password`;
          const json = { currentPassword, password };
          const { status, text } = await anyReplica().call(path, { token: own, method: 'PUT', json });
          expect(status, text).toBe(200);
        },
        async (replica, person, bearer) => {
          const password = fresh.get(person.name) ?? '';
          const isOld = (await replica.signInAnswer(person)).status === 200;
          const isNew = (await replica.signInAnswer({ ...person, password })).status === 200;
          return (await replica.judge(bearer)) === 401 && !isOld && isNew;
        },
      );
    });

    test('AC-40 a role change: every replica shows it', async () => {
      await measured(
        'role',
        async ({ name }) => {
          await change(name, ({ metadata }) => ({
            metadata: { ...metadata, annotations: { ...metadata.annotations, [ROLE]: 'users-manager' } },
          }));
        },
        async (replica, { name }) => (await get(name, replica))?.metadata.annotations?.[ROLE] === 'users-manager',
      );
    });

    afterAll(() => console.info('slowest, ms:', JSON.stringify(slowest)));
  });

  describe('races', () => {
    test('AC-14 of creates with one name: one wins, and its password alone is good', async () => {
      for (let time = 0; time < TIMES; time++) {
        const person = newPerson();
        const rivals = [person, { ...person, password: newPassword() }, { ...person, password: newPassword() }];
        const answers = await Promise.all(
          rivals.map((rival, at) =>
            replicas.all[at]!.call(USERS, {
              token,
              json: userOf(rival, { email: `${at}-${rival.name}@example.com`, role: 'platform-regular' }),
            }),
          ),
        );
        const statuses = answers.map(({ status }) => status);
        expect(statuses.toSorted()).toEqual([200, 409, 409]);
        const winner = rivals[statuses.indexOf(200)]!;
        await signsInOnAll(winner);
        for (const rival of rivals.filter((one) => one !== winner))
          expect((await anyReplica().signInAnswer(rival)).status).toBe(400);
        await eventually(
          () => get(person.name),
          (user) => user?.metadata.annotations?.[ROLE] === 'platform-regular',
        );
      }
    });

    test('A-41 of creates with one e-mail: one is made, and signs in by it', async () => {
      let latest = 0;
      for (let time = 0; time < TIMES; time++) {
        const people = replicas.all.map(() => newPerson());
        const email = `shared-${time}@example.com`;
        const began = performance.now();
        const answers = await Promise.all(
          people.map((person, at) => replicas.all[at]!.call(USERS, { token, json: userOf(person, { email }) })),
        );
        latest = Math.max(latest, performance.now() - began);
        const statuses = answers.map(({ status }) => status);
        expect(statuses.toSorted()).toEqual([200, 409, 409]);
        const owner = people[statuses.indexOf(200)]!;
        await signsInOnAll(owner);
        await signsInOnAll({ ...owner, name: email });
        for (const other of people.filter((one) => one !== owner))
          expect(await get(other.name)).toMatchObject({ kind: 'Status', code: 404 });
      }
      console.info(`all three were answered within ${latest.toFixed(0)} ms`);
    });

    test('AC-32 of updates of one version: one wins and nothing of the others is saved', async () => {
      for (let time = 0; time < TIMES; time++) {
        const person = newPerson();
        const user = await create(person);
        const answers = await Promise.all(
          replicas.all.map((replica, at) =>
            replica.call(`${USERS}/${person.name}`, {
              token,
              method: 'PUT',
              json: { ...user, spec: { ...user.spec, lang: `l${at}`, displayName: `by ${at}` } },
            }),
          ),
        );
        const statuses = answers.map(({ status }) => status);
        expect(statuses.toSorted()).toEqual([200, 409, 409]);
        const winner = statuses.indexOf(200);
        const saved = await eventually(
          () => get(person.name),
          (now) => now?.spec.lang !== undefined,
        );
        expect(saved.spec).toMatchObject({ lang: `l${winner}`, displayName: `by ${winner}` });
      }
    });

    test('AC-62 of password changes: in the end one password is good, on all replicas the same', async () => {
      for (let time = 0; time < TIMES / 2; time++) {
        const person = newPerson();
        await create(person);
        const fresh = [newPassword(), newPassword(), newPassword()];
        const answers = await Promise.all(
          fresh.map((password, at) =>
            replicas.all[at]!.call(`${USERS}/${person.name}/password`, { token, method: 'PUT', json: { password } }),
          ),
        );
        expect(answers.map(({ status }) => status).every((status) => status === 200 || status === 503)).toBe(true);
        const goodOn = async (replica: Replica): Promise<string> => {
          const tried = await Promise.all(
            [...fresh, person.password].map((password) => replica.signInAnswer({ ...person, password })),
          );
          return tried.map(({ status }) => (status === 200 ? '+' : '-')).join('');
        };
        const seen = await eventually(
          () => onAll(goodOn),
          (all) => new Set(all).size === 1 && /^-*\+-*-$/.test(all[0] ?? ''),
        );
        expect(seen[0]?.split('+')).toHaveLength(2);
      }
    });

    test('AC-50 of sign-ins with a delete: no token lives on', async () => {
      for (let time = 0; time < TIMES; time++) {
        const person = newPerson();
        await create(person);
        await signsInOnAll(person);
        const [, ...signIns] = await Promise.all([
          anyReplica().call(`${USERS}/${person.name}`, { token, method: 'DELETE' }),
          ...Array.from({ length: 9 }, () => anyReplica().signInAnswer(person)),
        ]);
        const tokens = signIns.flatMap(({ body }) => (body?.access_token ? [body.access_token as string] : []));
        await eventually(
          async () => (await onAll((replica) => Promise.all(tokens.map((one) => replica.judge(one))))).flat(),
          (statuses) => statuses.every((status) => status === 401),
        );
      }
    });

    test('of creates with a process that is killed: every user is whole, or goes', async () => {
      const [victim, ...others] = replicas.all;
      const people = Array.from({ length: 30 }, newPerson);
      const creates = people.map(async (person, at) => {
        await sleep(at * 15);
        const json = userOf(person, { role: 'platform-regular' });
        return (await victim.call(USERS, { token, json }).catch(() => undefined))?.status;
      });
      await sleep(220);
      await victim.kill();
      const statuses = await Promise.all(creates);
      expect(statuses.some((status) => status === undefined)).toBe(true);
      const stored = () => kubectlUsers(cluster);
      const isMarked = ({ metadata }: StoredUser) =>
        metadata.annotations?.['iam.gatehouse.io/incomplete'] !== undefined;
      const left = await eventually(stored, (users) => !users.some(isMarked));
      const names = new Set(left.map(({ metadata }) => metadata.name));
      for (const [at, person] of people.entries()) {
        if (statuses[at] === 200) expect(names).toContain(person.name);
        if (!names.has(person.name)) continue;
        // A replica shows a moment later what the API server has.
        const user = await eventually(
          () => get(person.name, others[0]),
          (one) => one?.metadata?.annotations?.[ROLE] !== undefined && one.status?.state === 'Active',
        );
        expect(user.metadata.annotations[ROLE], person.name).toBe('platform-regular');
        await signsInOnAll(person, others);
      }
      await victim.start();
    });
  });

  test('AC-19 our own account can neither bind, nor escalate, nor act as anybody but those who may give roles', async () => {
    const roles = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };
    const can = (verb: string, of: object) => mayAccount(cluster, { verb, ...of });
    expect(await can('bind', roles)).toBe(false);
    expect(await can('bind', { ...roles, name: 'platform-regular' })).toBe(false);
    expect(await can('escalate', roles)).toBe(false);
    expect(await can('create', { ...roles, resource: 'clusterrolebindings' })).toBe(false);
    expect(await can('impersonate', { resource: 'users', name: 'kubernetes-admin' })).toBe(false);
    expect(await can('impersonate', { resource: 'groups', name: 'system:masters' })).toBe(false);
    expect(await can('impersonate', { resource: 'serviceaccounts', namespace: NAMESPACE, name: 'gatehouse' })).toBe(
      false,
    );
    expect(await can('impersonate', { resource: 'users', name: 'admin' })).toBe(true);
    const manager = newPerson();
    await create(manager, { role: 'users-manager' });
    await signsInOnAll(manager);
    const { access_token } = await anyReplica().signIn(manager);
    const asked = { token: access_token, json: userOf(newPerson(), { role: 'platform-admin' }) };
    const answer = await eventually(
      () => anyReplica().call(USERS, asked),
      ({ status }) => status !== 403, // until the binding of the manager is in force
    );
    expect(answer.status, answer.text).toBe(503);
    expect(answer.body.message).toContain('in your name');
  });

  /** Somebody whom a cluster of 3.4 has left, with the hash in the object, where its definition has a place for it. */
  async function migrate(): Promise<Person> {
    const schema = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/password';
    const place = JSON.stringify([{ op: 'add', path: schema, value: { type: 'string' } }]);
    await cluster.kubectl(['patch', 'crd', 'users.iam.gatehouse.io', '--type=json', '-p', place]);
    // A watch that was open before goes on with the definition that it began with.
    await Promise.all(replicas.all.map((replica) => replica.kill()));
    const person = newPerson();
    const user = {
      apiVersion: 'iam.gatehouse.io/v1alpha2',
      kind: 'User',
      metadata: { name: person.name },
      spec: { email: '', password: await hashPassword(person.password, 10) },
    };
    const stored = async () =>
      JSON.parse(await cluster.kubectl(['get', 'users.iam.gatehouse.io', person.name, '-o', 'json']));
    await eventually(
      async () => {
        await cluster.kubectl(['delete', 'users.iam.gatehouse.io', person.name, '--ignore-not-found']);
        await cluster.kubectl(['create', '-f', '-'], JSON.stringify(user));
        return stored();
      },
      ({ spec }) => spec.password !== undefined, // until the changed definition is in force
    );
    await Promise.all(replicas.all.map((replica) => replica.start()));
    await eventually(stored, ({ spec }) => spec.password === undefined);
    return person;
  }

  test('R-17 U-19 what etcd holds in the end: no password, no token, and hashes in the named Secrets alone', async () => {
    const wrong = newPerson();
    await create(wrong);
    await Promise.all(
      Array.from({ length: 30 }, () => anyReplica().signInAnswer({ ...wrong, password: newPassword() })),
    );
    expect(await replicas.users('import', replicas.usersFile, '--apply')).toContain('1 made');
    const migrated = await migrate();
    await signsInOnAll(migrated);
    const entries = await readEtcd(cluster.etcdUrl);
    expect(entries.length).toBeGreaterThan(200);
    const isNamed = (key: string): boolean =>
      key.startsWith(`/registry/secrets/${NAMESPACE}/gatehouse-password-`) ||
      key === `/registry/secrets/${NAMESPACE}/gatehouse-first-administrator`;
    const hashes = entries.filter(({ value }) => /\$2[aby]\$\d\d\$/.test(value)).map(({ key }) => key);
    expect(hashes.filter((key) => !isNamed(key))).toEqual([]);
    expect(hashes.length).toBeGreaterThan(3); // the administrator, who is imported, who is migrated, and others
    const secrets = [...passwords, ...replicas.tokens];
    const found = entries.flatMap(({ key, value }) =>
      secrets.flatMap((secret) => (value.includes(secret) ? [key] : [])),
    );
    expect(found).toEqual([]);
  });
});

interface StoredUser {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
}

/** Whether Gatehouse's own account may do something, by the cluster's word. */
async function mayAccount({ kubectl }: ControlPlane, resourceAttributes: object): Promise<boolean> {
  const user = `system:serviceaccount:${NAMESPACE}:gatehouse`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
  const asked = JSON.stringify({ ...review, spec: { user, groups, resourceAttributes } });
  const { status } = JSON.parse(await kubectl(['create', '-f', '-', '-o', 'json'], asked)) as {
    status: { allowed: boolean };
  };
  return status.allowed;
}

async function kubectlUsers({ kubectl }: ControlPlane): Promise<readonly StoredUser[]> {
  const { items } = JSON.parse(await kubectl(['get', 'users.iam.gatehouse.io', '-o', 'json'])) as {
    items: StoredUser[];
  };
  return items;
}

async function readAdminPassword({ kubectl }: ControlPlane): Promise<string> {
  const text = await kubectl(['-n', NAMESPACE, 'get', 'secret', 'gatehouse-first-administrator', '-o', 'json']);
  const { data } = JSON.parse(text) as { data: Record<string, string> };
  return Buffer.from(data['password'] ?? '', 'base64').toString();
}
