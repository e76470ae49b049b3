import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  newUser,
  PREFIX,
  type Reply,
  ROLE,
  startWriteStand,
  UNINITIALIZED,
  USERS,
  type WriteStand,
} from '../../support/accounts/write-stand.ts';

/** Distinctive, and good by the rules unless they say otherwise. */
const CANARIES = {
  created: 'Canary-created-1',
  changed: 'Canary-changed-1',
  reset: 'Canary-reset-1',
  first: 'Canary-first-1',
  given: 'Canary-given-1',
  failed: 'Canary-failed-1',
  wrong: 'Canary-wrong-1',
  query: 'Canary-query-1',
  weak: 'canary-weak-',
  long: `Canary-long-1${'y'.repeat(80)}`,
  put: 'Canary-put-1',
  annotated: 'Canary-annotated-1',
  typed: 'Canary-typed-as-name-1',
  garbled: 'Canary-garbled-1',
  hash: `$2b$10$${'Canary'.repeat(8)}12345`,
} as const;

const HASH = /\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}/;

describe.each(['gatehouse', 'kubernetes'])(
  'A-36 through a whole day of accounts, the audit trail in the form %s',
  (auditFormat) => {
    let stand: WriteStand;
    const answers: Reply[] = [];
    beforeAll(async () => {
      stand = await startWriteStand({ config: { log: { auditFormat } } });
      await wholeDay();
    });
    afterAll(() => stand?.stop());

    const ask = async (...asked: Parameters<WriteStand['ask']>): Promise<Reply> => {
      const answer = await stand.ask(...asked);
      answers.push(answer);
      return answer;
    };
    const signIn = async (name: string, password: string): Promise<string> => {
      const answer = await stand.signIn(name, password);
      if (answer.status !== 200) answers.push(answer);
      return answer.body.access_token ?? '';
    };

    async function wholeDay(): Promise<void> {
      const post = (name: string, more: object) => ask('POST', USERS, { body: newUser(name, more) });
      const lastApplied = {
        'kubectl.kubernetes.io/last-applied-configuration': `{"spec":{"password":"${CANARIES.annotated}"}}`,
      };
      await post('day', {
        spec: { password: CANARIES.created },
        annotations: { [ROLE]: 'platform-regular', [UNINITIALIZED]: 'true', ...lastApplied },
      });
      await post('weak', { spec: { password: CANARIES.weak } });
      await post('long', { spec: { password: CANARIES.long } });
      await post('hash', { spec: { password: CANARIES.hash } });
      await post(CANARIES.typed.toLowerCase().repeat(3), { spec: { password: CANARIES.given } });
      await ask('POST', `${USERS}?password=${CANARIES.query}`, { body: newUser('query') });
      await ask('POST', USERS, { body: `{"metadata":{"name":"x"},"spec":{"password":"${CANARIES.garbled}"` });
      for (const plural of ['secrets', 'clusterrolebindings', 'users']) {
        stand.cluster.faults.next({ verb: plural === 'users' ? 'patch' : 'create', kind: plural }, { status: 500 });
        await post(`failed-${plural}`, {
          spec: { password: CANARIES.failed },
          annotations: { [ROLE]: 'platform-regular' },
        });
        stand.cluster.faults.clear();
      }
      const headers = { 'Content-Type': 'application/json-patch+json' };
      const remove = { op: 'remove', path: `/metadata/annotations/${PREFIX}~1uninitialized` };
      const patch = async (value: string, token: string) =>
        ask('PATCH', `/apis/${PREFIX}/v1alpha2/users/day`, {
          token,
          headers,
          body: [remove, { op: 'replace', path: '/spec/password', value }],
        });
      const invited = await signIn('day', CANARIES.created);
      await patch(CANARIES.weak, invited);
      await patch(CANARIES.first, invited);
      const own = await signIn('day', CANARIES.first);
      const change = (body: object, token?: string) =>
        ask('PUT', `${USERS}/day/password`, { body, ...(token && { token }) });
      await change({ currentPassword: CANARIES.wrong, password: CANARIES.changed }, own);
      await change({ currentPassword: CANARIES.first, password: CANARIES.hash }, own);
      stand.cluster.faults.next(
        { verb: 'update', kind: 'secrets', when: ({ body }) => body.includes('"hash"') },
        { status: 500 },
      );
      await change({ currentPassword: CANARIES.first, password: CANARIES.failed }, own);
      stand.cluster.faults.clear();
      const again = await signIn('day', CANARIES.first);
      await change({ currentPassword: CANARIES.first, password: CANARIES.changed }, again);
      await signIn('day', CANARIES.wrong);
      await signIn(CANARIES.typed, CANARIES.wrong);
      await change({ password: CANARIES.reset });
      const { body } = await ask('GET', `${USERS}/day`);
      await ask('PUT', `${USERS}/day`, { body: { ...body, spec: { ...body.spec, password: CANARIES.put } } });
      await ask('PUT', `${USERS}/day`, { body: { ...body, spec: { ...body.spec, lang: 'de' } } });
      await signIn('day', CANARIES.reset);
      for (const path of [USERS, `${USERS}/day`, `${USERS}/day/loginrecords`, `${USERS}/day/globalroles`])
        await ask('GET', path);
    }

    test('no password and no hash is in an answer, the log, a metric or an object besides the Secrets of passwords', async () => {
      expect((await stand.signIn('day', CANARIES.reset)).status).toBe(200); // it did what it says
      const { objects } = stand.cluster;
      const isPassword = ({ metadata: { labels } }: { metadata: { labels?: Record<string, string> } }) =>
        labels?.['app.kubernetes.io/component'] === 'passwords';
      const plurals = [
        'users',
        'loginrecords',
        'clusterroles',
        'clusterrolebindings',
        'configmaps',
        'events',
        'leases',
      ];
      const secrets = objects.list('secrets').filter((secret) => !isPassword(secret as never));
      const decoded = secrets.flatMap(({ data }) =>
        Object.values((data ?? {}) as Record<string, string>).map((value) => Buffer.from(value, 'base64').toString()),
      );
      const seen = {
        answers: answers.map(({ text, headers }) => text + JSON.stringify(headers)).join('\n'),
        log: JSON.stringify(stand.gatehouse.log),
        metrics: await stand.metrics(),
        objects: JSON.stringify(plurals.flatMap((plural) => objects.list(plural))),
        secrets: JSON.stringify(secrets) + decoded.join('\n'),
      };
      expect(seen.log).toContain('password_change');
      expect(answers.length).toBeGreaterThan(20);
      for (const [where, text] of Object.entries(seen)) {
        expect([where, Object.values(CANARIES).filter((canary) => text.includes(canary))]).toEqual([where, []]);
        expect([where, HASH.exec(text)?.[0]]).toEqual([where, undefined]);
      }
      const kept = objects.list('secrets').filter((secret) => isPassword(secret as never));
      expect(
        kept.map(({ data }) => Buffer.from((data as Record<string, string>)['user'] ?? '', 'base64').toString()),
      ).toEqual(['day']);
      expect(JSON.stringify(kept)).not.toContain(Buffer.from(CANARIES.reset).toString('base64'));
    });

    test('AU-03 the audit trail has a line for each change, with who and whom, and no more of a request', () => {
      const { log } = stand.gatehouse;
      const told = auditFormat === 'kubernetes' ? recordsIn(log) : linesIn(log);
      const of = (event: string) => told.filter((line) => line.event === event);
      expect(of('user_creation')).toContainEqual(
        expect.objectContaining({ user: 'admin', target: 'day', role: 'platform-regular', result: 'ok' }),
      );
      expect(of('user_creation').filter(({ result }) => result === 'refused').length).toBeGreaterThan(2);
      expect(of('password_change').map(({ result }) => result)).toEqual(
        expect.arrayContaining(['ok', 'refused', 'failed']),
      );
      expect(of('user_update')).toContainEqual(expect.objectContaining({ target: 'day', result: 'ok' }));
    });
  },
);

type Log = readonly Readonly<Record<string, unknown>>[];

interface Told {
  readonly event?: unknown;
  readonly user?: unknown;
  readonly target?: unknown;
  readonly role?: unknown;
  readonly result?: unknown;
}

const linesIn = (log: Log): readonly Told[] => log.filter((line) => typeof line['event'] === 'string');

/** Reads what records in Kubernetes' form tell. */
const recordsIn = (log: Log): readonly Told[] =>
  (
    log as readonly {
      AuditID?: string;
      User: { Username: string };
      ObjectRef: { Name?: string };
      Annotations: Record<string, string>;
    }[]
  )
    .filter(({ AuditID }) => AuditID !== undefined)
    .map(({ User, ObjectRef, Annotations }) => {
      const { 'gatehouse.io/event': event, 'gatehouse.io/result': result, 'gatehouse.io/role': role } = Annotations;
      return { event, result, role, user: User.Username, target: ObjectRef.Name };
    });
