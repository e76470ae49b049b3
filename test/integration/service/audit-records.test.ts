import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { quickBcrypt } from '../../support/passwords.ts';
import { ACTS, printedBySignIn, type Stand, secretsOf, signIn, startWalk, TYPED } from './audit-acts.ts';
import { CLIENT, eventually, passwordOf, type Service, startCluster, startService } from './stand.ts';

interface AuditRecord {
  readonly AuditID: string;
  readonly Verb: string;
  readonly Stage: string;
  readonly User: { readonly Username: string };
  readonly ObjectRef: { readonly Resource: string; readonly Subresource?: string; readonly Name?: string };
  readonly ResponseStatus: { readonly code?: number; readonly status: string };
  readonly Annotations: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

const LOG = { auditFormat: 'kubernetes' };

const recordsOf = ({ gatehouse }: Pick<Service, 'gatehouse'>): readonly AuditRecord[] =>
  gatehouse.log.filter((line): line is AuditRecord => 'AuditID' in line);

/** The records of this request. They are written when the answer has gone. */
const recordsWith = (service: Service, id: string | null, least = 1): Promise<readonly AuditRecord[]> =>
  eventually(
    () => recordsOf(service).filter(({ AuditID }) => AuditID === id),
    ({ length }) => length >= least,
  );

/** Who did it, the verb, resource and subresource, and the name of the object. `SID` is the session of the newest tokens. */
const told = ({ Verb, ObjectRef, User }: AuditRecord, { tokens }: Stand): string => {
  const sid = tokens.pairs.length === 0 ? '' : sidIn(tokens.last().access_token);
  const { Resource, Subresource, Name } = ObjectRef;
  const resource = Subresource === undefined ? Resource : `${Resource}/${Subresource}`;
  return `${User.Username}: ${Verb} ${resource} ${Name === sid ? 'SID' : Name}`;
};

const sidIn = (token: string): string => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid;

const NOBODY = 'system:anonymous';

/** What the record of each act says, by its title. */
const TOLD: Readonly<Record<string, string>> = {
  'a sign-in': 'ada: create users/sessions ada',
  'a wrong password': `${NOBODY}: create users/sessions ada`,
  'a name that is nobody’s': `${NOBODY}: create users/sessions undefined`,
  'a scope that is not known': `${NOBODY}: create users/sessions undefined`,
  'an unknown client': `${NOBODY}: authenticate oauthclients undefined`,
  'a wrong secret': `${NOBODY}: authenticate oauthclients console`,
  'no client': `${NOBODY}: authenticate oauthclients undefined`,
  'a refresh': 'ada: create tokens SID',
  'a refresh whose answer was lost': 'ada: create tokens SID',
  'a made-up refresh token': `${NOBODY}: create tokens undefined`,
  'a refresh token of another client': `${NOBODY}: create tokens SID`,
  'an introspection of a good token': 'system:client:other: get tokens SID',
  'an introspection of nothing': 'system:client:console: get tokens undefined',
  'an introspection of a bad one': 'system:client:console: get tokens undefined',
  'an introspection by a public client': 'system:client:app: get tokens undefined',
  'an introspection with a wrong secret': `${NOBODY}: authenticate oauthclients console`,
  'a token review': 'system:webhook:bearer: create tokenreviews SID',
  'a token review of a bad token': 'system:webhook:bearer: create tokenreviews undefined',
  'a wrong caller of the token review': `${NOBODY}: authenticate oauthclients undefined`,
  'a caller of the token review without a bearer': `${NOBODY}: authenticate oauthclients undefined`,
  'a revocation by another client': 'system:client:other: delete tokens SID',
  'a revocation with a wrong secret': `${NOBODY}: authenticate oauthclients console`,
  'a revocation': 'system:client:console: delete tokens SID',
  'a revocation of what is over': 'system:client:console: delete tokens SID',
  'a refresh of what is over': `${NOBODY}: create tokens SID`,
  'a second sign-in': 'ada: create users/sessions ada',
  'its refresh': 'ada: create tokens SID',
  'the next': 'ada: create tokens SID',
  'a refresh token that comes again': `${NOBODY}: create tokens SID`,
  'a third sign-in': 'ada: create users/sessions ada',
  'a bad sign-out': `${NOBODY}: delete users/sessions ada`,
  'a sign-out': 'ada: delete users/sessions ada',
  'a sign-out with a bad token': `${NOBODY}: delete users/sessions undefined`,
  'a fourth sign-in': 'ada: create users/sessions ada',
  'a sign-out of all sessions': 'ada: delete users/sessions ada',
};

describe('the audit trail with `log.auditFormat: kubernetes`', () => {
  test('AU-03 has exactly one record for each act, with the id of the request and the status of its answer', async () => {
    const stand = await startWalk(LOG);
    expect(ACTS.map(({ title }) => title)).toEqual(Object.keys(TOLD));
    for (const { title, path, send, line } of ACTS) {
      const { headers, status } = await send(stand);
      const records = await recordsWith(stand.service, headers.get('x-request-id'));
      expect([title, records.map((record) => told(record, stand))]).toEqual([title, [TOLD[title]]]);
      const { event, result, ...fields } = line(stand.tokens);
      expect([title, records]).toMatchObject([
        title,
        [
          {
            ...{ Level: 'Metadata', Stage: 'ResponseComplete', RequestURI: path, SourceIPs: ['127.0.0.1'] },
            ...{ UserAgent: 'node', RequestReceivedTimestamp: expect.stringMatching(/^\d{4}-.+T.+\.\d{3}Z$/) },
            ResponseStatus: { code: status, status: status < 400 ? 'Success' : 'Failure' },
            Annotations: { 'gatehouse.io/event': event, 'gatehouse.io/result': result },
          },
        ],
      ]);
      const text = JSON.stringify(records);
      // `endpoint` and the rest of a line of the other format: a record tells no less.
      expect([title, Object.values(fields).filter((value) => !text.includes(String(value)))]).toEqual([title, []]);
    }
    expect(recordsOf(stand.service).filter(({ User }) => User.Username !== 'system:gatehouse')).toHaveLength(
      ACTS.length,
    );
    expect(stand.service.gatehouse.log.filter(({ logger }) => logger === 'audit')).toEqual([]);
  });

  test('AU-03 tells of a sign-in whose client did not wait for the answer, which is no failure', async () => {
    const compared = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const compare = async (): Promise<boolean> => {
      compared.resolve();
      await gone.promise;
      return true;
    };
    const service = await startService(await startCluster(), {
      config: { log: LOG },
      bcrypt: { ...quickBcrypt, compare },
    });
    const form = new URLSearchParams({
      grant_type: 'password',
      ...CLIENT,
      username: 'ada',
      password: passwordOf('ada'),
    });
    const head = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded';
    const socket = connect(service.gatehouse.port, '127.0.0.1');
    socket.write(`${head}\r\nContent-Length: ${`${form}`.length}\r\n\r\n${form}`);
    await compared.promise;
    socket.destroy();
    await eventually(
      () => service.logged('request').filter(({ aborted }) => aborted),
      ({ length }) => length === 1,
    );
    gone.resolve();
    const signIns = () =>
      recordsOf(service).filter(({ Annotations }) => Annotations['gatehouse.io/event'] === 'sign_in');
    const [record] = await eventually(signIns, ({ length }) => length === 1);
    expect(record).toMatchObject({ User: { Username: 'ada' }, ResponseStatus: { code: 499, status: 'Success' } });
  });

  test('AU-04 holds no password, secret, token or typed name', async () => {
    const stand = await startWalk(LOG);
    for (const { send } of ACTS) await send(stand);
    const { headers } = await signIn()(stand);
    await recordsWith(stand.service, headers.get('x-request-id'));
    const lines = JSON.stringify(stand.service.gatehouse.log);
    const secrets = secretsOf(stand);
    expect(secrets.length).toBeGreaterThan(20);
    expect(secrets.filter((secret) => lines.includes(secret))).toEqual([]);
  });

  test('AU-03 has a level of its own', async () => {
    const service = await startService(await startCluster(), { config: { log: { ...LOG, auditLevel: 'warn' } } });
    await service.signIn('ada');
    const { headers } = await service.signInAnswer('ada', TYPED.password);
    await recordsWith(service, headers.get('x-request-id'));
    expect(recordsOf(service).map(({ ResponseStatus }) => ResponseStatus)).toMatchObject([
      { status: 'Failure', reason: 'invalid_grant', code: 400 },
    ]);
  });

  test.each(['json', 'pretty'])(
    'AU-03 begins each line with `AuditID` in the output of the program, the log in the format %s',
    async (format) => {
      const stdout = await printedBySignIn({ ...LOG, format });
      const records = stdout.split('\n').filter((line) => line.startsWith('{"AuditID":"'));
      const of = (line: string) => (JSON.parse(line) as AuditRecord).Annotations['gatehouse.io/event'];
      expect(records.map(of)).toEqual(['signing_key_created', 'sign_in']);
      expect(stdout).not.toContain('"logger":"audit"');
    },
  );
});

describe('calls to the cluster with `log.auditFormat: kubernetes`', () => {
  const CONFIG = { config: { log: LOG, gateway: { enabled: true, impersonation: 'honour' } } };

  /** Ada, who may do everything. */
  async function startGateway() {
    const cluster = await startCluster();
    const service = await startService(cluster, CONFIG);
    const { access_token: token } = await service.signIn('ada');
    const call = async (path: string, options = {}): Promise<readonly AuditRecord[]> => {
      const { headers } = await service.call(path, { token, ...options });
      return recordsWith(service, headers.get('x-request-id'));
    };
    return { cluster, service, token, call };
  }

  test('AU-03 are records with verb, object, caller and status', async () => {
    const { call } = await startGateway();
    const [found] = await call('/api/v1/nodes/node-a');
    expect(found).toMatchObject({
      ...{ Verb: 'get', RequestURI: '/api/v1/nodes/node-a', SourceIPs: ['127.0.0.1'], UserAgent: 'node' },
      User: { Username: 'ada', UID: expect.any(String), Groups: expect.arrayContaining(['system:authenticated']) },
      ObjectRef: { Resource: 'nodes', Name: 'node-a', APIVersion: 'v1' },
      ResponseStatus: { code: 200, status: 'Success' },
    });
    expect(found).not.toHaveProperty('ImpersonatedUser');
    const [absent] = await call('/apis/apps/v1/namespaces/shop/deployments/cart', { method: 'DELETE' });
    expect(absent).toMatchObject({
      ...{ Verb: 'delete', ResponseStatus: { code: 404, status: 'Failure' } },
      ObjectRef: { Resource: 'deployments', Namespace: 'shop', Name: 'cart', APIGroup: 'apps', APIVersion: 'v1' },
    });
    const [paths] = await call('/apis');
    expect(paths).toMatchObject({ Verb: 'get', RequestURI: '/apis' });
    expect(paths).not.toHaveProperty('ObjectRef');
  });

  test('AU-03 tell whom the caller impersonates', async () => {
    const { call } = await startGateway();
    const [record] = await call('/api/v1/nodes', { headers: { 'Impersonate-User': 'joe' } });
    expect(record).toMatchObject({
      User: { Username: 'ada' },
      ImpersonatedUser: { Username: 'joe', Groups: ['system:authenticated'] },
    });
  });

  test('AU-03 are two for a stream: one when it begins, one with its status when it has ended', async () => {
    const { service, token } = await startGateway();
    const stop = new AbortController();
    const watch = await fetch(`${service.gatehouse.origin}/api/v1/nodes?watch=true`, {
      headers: { Authorization: `Bearer ${token}` },
      signal: stop.signal,
    });
    const id = watch.headers.get('x-request-id');
    const [began] = await recordsWith(service, id);
    expect(began).toMatchObject({ Verb: 'watch', Stage: 'RequestReceived', ObjectRef: { Resource: 'nodes' } });
    expect(began).not.toHaveProperty('ResponseStatus');
    stop.abort();
    const [, ended] = await recordsWith(service, id, 2);
    expect(ended).toMatchObject({ Stage: 'ResponseComplete', ResponseStatus: { code: 200, status: 'Success' } });
  });

  test('AU-03 have an id that no caller can choose, and keep the one that the caller chose beside it', async () => {
    const { service, token } = await startGateway();
    await service.call('/api/v1/nodes', { token, headers: { 'X-Request-Id': 'chosen' } });
    const [record] = await eventually(
      () => recordsOf(service).filter(({ Annotations }) => Annotations['gatehouse.io/requestId'] === 'chosen'),
      ({ length }) => length === 1,
    );
    expect(record?.AuditID).toMatch(/^[0-9a-f]{16}$/);
  });

  test('AU-04 hold no body, no header and no value of a parameter', async () => {
    const { cluster, service, call } = await startGateway();
    await call('/api/v1/namespaces/shop/configmaps?fieldManager=canary-manager', {
      method: 'POST',
      headers: { 'X-Canary': 'canary-header', Cookie: 'a=canary-cookie' },
      form: { secret: 'canary-body' },
    });
    await call('/api/v1/nodes?labelSelector=token%3Dcanary-selector&continue=canary-continue');
    expect(cluster.evidence.requests.some(({ query }) => query.get('labelSelector') === 'token=canary-selector')).toBe(
      true,
    );
    expect(JSON.stringify(service.gatehouse.log)).not.toContain('canary-');
  });
});
