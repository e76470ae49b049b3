import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashPassword } from '../../src/users/password-hash.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { readEtcd } from './etcd-dump.ts';
import { eventually } from './eventually.ts';
import { NAMESPACE } from './installation.ts';
import type { Person, Replica } from './replica.ts';
import { type Replicas, type ReplicasOptions, startReplicas } from './replicas.ts';
import { BROWSER_CLIENT, newCode, SignInBrowser } from './sign-in-browser.ts';
import { createWriteLog, type WriteLog } from './write-log.ts';

const VISITS = 1_000;

/** A person has one record with all of their sessions. */
const BEGIN = 'create secrets gatehouse-sessions';
const CHANGE = 'update secrets gatehouse-sessions';

/** Three processes on a real cluster whose API server counts what they write. */
class Stand {
  readonly cluster: ControlPlane;
  readonly replicas: Replicas;
  readonly #log: WriteLog;
  #turn = 0;

  private constructor(cluster: ControlPlane, replicas: Replicas, log: WriteLog) {
    this.cluster = cluster;
    this.replicas = replicas;
    this.#log = log;
  }

  static async start(options: Pick<ReplicasOptions, 'accounts'> = {}): Promise<Stand> {
    const log = await createWriteLog();
    const cluster = await startControlPlane({ apiServerArgs: log.apiServerArgs });
    const oauthOptions = { clients: [BROWSER_CLIENT] };
    return new Stand(cluster, await startReplicas(cluster, { people: 3, oauthOptions, ...options }), log);
  }

  async stop(): Promise<void> {
    await this.replicas.stop();
    await this.cluster.stop();
    await this.#log.remove();
  }

  person = (index: number): Person => this.replicas.people[index] as Person;
  next = (): Replica => this.replicas.all[this.#turn++ % 3] as Replica;
  writes = (): Promise<readonly string[]> => this.#log.read();

  /** Makes this person an object. The users file, which comes first, does not have them. */
  async makeUser({ name, password }: Person): Promise<void> {
    const file = `${this.replicas.usersFile}.import`;
    await writeFile(file, JSON.stringify({ users: [{ name, passwordHash: await hashPassword(password, 10) }] }));
    expect(await this.replicas.users('import', file, '--apply')).toContain('1 made');
  }

  /** What is written while this runs. */
  async writesOf(what: () => Promise<unknown>): Promise<readonly string[]> {
    const before = (await this.writes()).length;
    await what();
    return (await this.writes()).slice(before);
  }

  /** All objects of the namespace, by their keys in etcd. */
  async objects(): Promise<readonly string[]> {
    const entries = await readEtcd(this.cluster.etcdUrl);
    return entries.map(({ key }) => key).filter((key) => key.includes(`/${NAMESPACE}/`));
  }

  /** A whole sign-in by browser: page, form and redemption, each by another process. */
  async signIn(person: Person): Promise<{ readonly access_token: string; readonly refresh_token: string }> {
    const code = await newCode(this.next(), this.next(), person);
    const { status, body, text } = await this.next().token({ ...code });
    expect(status, text).toBe(200);
    return body;
  }
}

describe('the writes of a sign-in by browser, counted at a real API server', () => {
  let stand: Stand;
  beforeAll(async () => {
    stand = await Stand.start();
  });
  afterAll(() => stand?.stop());

  test('B-20 the log has the writes of the start, so it would have others as well', async () => {
    expect(await stand.writes()).toContain('create secrets gatehouse-signing-keys');
    expect((await stand.objects()).length).toBeGreaterThan(0);
  });

  test(`B-20 ${VISITS} visits of the page by nobody write nothing, and leave no object`, async () => {
    const before = await stand.objects();
    const visit = async (): Promise<number> => new SignInBrowser().open(stand.next());
    const statuses: number[] = [];
    const written = await stand.writesOf(async () => {
      for (let done = 0; done < VISITS; done += 20)
        statuses.push(...(await Promise.all(Array.from({ length: 20 }, visit))));
    });
    expect(statuses).toEqual(Array(VISITS).fill(200));
    expect(written).toEqual([]);
    expect(await stand.objects()).toEqual(before);
  });

  test('B-41 page and form write nothing, and the redemption writes once', async () => {
    const codes: Awaited<ReturnType<typeof newCode>>[] = [];
    const issue = async () => codes.push(await newCode(stand.next(), stand.next(), stand.person(0)));
    expect(await stand.writesOf(issue)).toEqual([]);
    const redeem = async () => expect((await stand.next().token({ ...codes[0] })).status).toBe(200);
    expect(await stand.writesOf(redeem)).toEqual([BEGIN]);
  });

  test('B-41 the next sign-in of the same person is one write as well, to the same object', async () => {
    expect(await stand.writesOf(() => stand.signIn(stand.person(0)))).toEqual([CHANGE]);
  });

  test('B-41 a refresh is one write as after a sign-in by password, and none when it is repeated within the window', async () => {
    const byBrowser = await stand.signIn(stand.person(1));
    const replica = stand.next();
    const refresh = (token: string) => async () => expect((await replica.refresh(token)).status).toBe(200);
    expect(await stand.writesOf(refresh(byBrowser.refresh_token))).toEqual([CHANGE]);
    expect(await stand.writesOf(refresh(byBrowser.refresh_token))).toEqual([]);
    const byPassword = await replica.signIn(stand.person(2));
    expect(await stand.writesOf(refresh(byPassword.refresh_token))).toEqual([BEGIN]);
    expect(await stand.writesOf(refresh(byPassword.refresh_token))).toEqual([]);
  });
});

describe('the writes of a sign-in by browser where users are objects', () => {
  let stand: Stand;
  const olga: Person = { name: 'olga', password: 'Made-up-password-1' };
  beforeAll(async () => {
    stand = await Stand.start({ accounts: true });
    await stand.makeUser(olga);
    const answers = () => Promise.all(stand.replicas.all.map((replica) => replica.signInAnswer(olga)));
    await eventually(answers, (all) => all.every(({ status }) => status === 200));
  });
  afterAll(() => stand?.stop());

  test('B-41 the session is one write; besides, only the login record and its time are written, as after every sign-in', async () => {
    const afterwards = ['create loginrecords olga', 'patch users/status olga', 'update leases gatehouse-accounts'];
    const written = await stand.writesOf(() => stand.signIn(olga));
    const ofSessions = written.filter((write) => [BEGIN, CHANGE].includes(write));
    expect(ofSessions).toHaveLength(1);
    expect(afterwards).toEqual(expect.arrayContaining(written.filter((write) => !ofSessions.includes(write))));
    await eventually(stand.writes, (all) => all.includes('create loginrecords olga'));
  });
});
