import { beforeAll, describe, expect, test } from 'vitest';
import { createRoutes } from '../../../src/http/app.ts';
import { appParts } from '../http/app-under-test.ts';
import {
  ACTS,
  access,
  CONSOLE,
  type Line,
  post,
  printedBySignIn,
  refresh,
  type Stand,
  secretsOf,
  signIn,
  startWalk,
  TOKEN,
  TYPED,
} from './audit-acts.ts';
import { startDrivenReady } from './driven.ts';
import { runProgram, writeFiles } from './program.ts';
import { eventually, NODES, type Service, startCluster, startService } from './stand.ts';

const auditOf = ({ gatehouse }: Service): readonly Line[] => gatehouse.log.filter((line) => line['logger'] === 'audit');
const acts = (service: Service): readonly Line[] => auditOf(service).filter((line) => line['result'] !== undefined);

/** Routes under /oauth that raise nothing, each with its reason. */
const SILENT: Readonly<Record<string, string>> = {
  '/oauth/keys': 'public keys',
  '/oauth/.well-known/openid-configuration': 'a public document',
  '/oauth/authorize': 'a visit, which changes nothing',
  '/oauth/sign-in': 'without its page it is nobody’s attempt; its lines are those of B-44',
  '/oauth/new-password': 'without its page it is nobody’s password; its lines are those of B-26',
  '/oauth/consent': 'without its page it is nobody’s decision; its lines are those of B-44',
  '/oauth/sign-out': 'without its page it ends nothing; its lines are those of B-50',
  '/oauth/device_authorization': 'codes that nobody has allowed yet; a refused client has its line',
  '/oauth/device': 'a page, which changes nothing that anybody may have',
  '/oauth/device-decision': 'without its page it is nobody’s decision; its lines are those of D-04',
  '/oauth/userinfo': 'a read with an access token, as any other: the access log names its session',
};

/** What the log adds to each line, and where the request came from: judged apart. */
function withoutOrigin({
  time: _,
  level: __,
  msg: ___,
  source: ____,
  requestId: _____,
  logger: ______,
  ...rest
}: Line) {
  return rest;
}

/** The line of the access log for this request: it is written when the answer has gone. */
const accessLine = ({ service }: Stand, id: string): Promise<Line> =>
  eventually(
    () => service.logged('request').find((line) => line['requestId'] === id) ?? {},
    (line) => line['requestId'] === id,
  );

describe('the audit trail', () => {
  test('R-22 has exactly one line for each act: user, client, sid, source, result, and the request id of its access line', async () => {
    const stand = await startWalk();
    for (const { title, send, line } of ACTS) {
      const before = auditOf(stand.service).length;
      const answer = await send(stand);
      const told = auditOf(stand.service).slice(before);
      expect([title, told.map(withoutOrigin)]).toEqual([title, [line(stand.tokens)]]);
      const requestId = answer.headers.get('x-request-id') ?? '';
      expect([title, told[0]?.['source'], told[0]?.['requestId']]).toEqual([title, '127.0.0.1', requestId]);
      const request = await accessLine(stand, requestId);
      const { user, clientId, sid, askedBy, event } = told[0] ?? {};
      // Beside an introspection stands who asks; whose the token is, only the audit trail says. A reviewer is no client.
      const expected =
        askedBy === undefined ? { user, clientId, sid } : { clientId: event === 'introspection' ? askedBy : undefined };
      const { user: u, clientId: c, sid: s } = request;
      expect([title, { user: u, clientId: c, sid: s }]).toEqual([title, expected]);
    }
  });

  test('R-22 leads from the sid of an access line to exactly one sign-in', async () => {
    const stand = await startWalk();
    await signIn()(stand);
    await signIn()(stand);
    await refresh((tokens) => tokens.last().refresh_token)(stand);
    const answer = await stand.service.list(stand.tokens.last().access_token);
    const { sid, route } = await accessLine(stand, answer.headers.get('x-request-id') ?? '');
    expect(route).toBe(NODES);
    const signIns = auditOf(stand.service).filter((line) => line['event'] === 'sign_in' && line['sid'] === sid);
    expect(signIns).toMatchObject([{ user: 'ada', clientId: 'console', result: 'ok', source: '127.0.0.1' }]);
    const userinfo = await stand.service.call('/oauth/userinfo', { token: access(stand.tokens) });
    const asked = await accessLine(stand, userinfo.headers.get('x-request-id') ?? '');
    expect(asked).toMatchObject({ user: 'ada', clientId: 'console', sid });
  });

  test('R-22 A-36 holds no password, secret, token or typed name', async () => {
    const stand = await startWalk();
    for (const { send } of ACTS) await send(stand);
    const lines = JSON.stringify(stand.service.gatehouse.log);
    const secrets = secretsOf(stand);
    expect(secrets.length).toBeGreaterThan(20);
    expect(secrets.filter((secret) => lines.includes(secret))).toEqual([]);
  });

  test('R-22 walks every route under /oauth, or says why it raises nothing', () => {
    const routes = createRoutes(appParts()).map(({ template }) => template);
    const served = new Set(routes.filter((template) => template.startsWith('/oauth')));
    expect(new Set([...ACTS.map(({ path }) => path), ...Object.keys(SILENT)])).toEqual(served);
  });

  test('R-22 a request that is no act of anybody leaves no line', async () => {
    const stand = await startWalk();
    await stand.service.call('/oauth/logout');
    await post(stand, `${TOKEN}?x=1`, CONSOLE);
    await post(stand, TOKEN, { ...CONSOLE, grant_type: TYPED.token });
    for (const path of Object.keys(SILENT)) await stand.service.call(path);
    expect(acts(stand.service)).toEqual([]);
  });

  test('R-22 has a level of its own', async () => {
    const service = await startService(await startCluster(), { config: { log: { auditLevel: 'warn' } } });
    await service.signIn('ada');
    await service.signInAnswer('ada', TYPED.password);
    expect(acts(service).map(({ event, result }) => [event, result])).toEqual([['sign_in', 'refused']]);
  });

  test('R-22 is in the output of the program while the rest of its log is at warn', async () => {
    const stdout = await printedBySignIn({ level: 'warn' });
    const lines = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
    expect(lines.filter(({ level }) => level === 'info').map(({ logger, event }) => [logger, event])).toEqual([
      ['audit', 'signing_key_created'],
      ['audit', 'sign_in'],
    ]);
  });

  test('R-22 counts each act by its event', async () => {
    const stand = await startWalk();
    await signIn()(stand);
    await signIn({ client_secret: TYPED.secret })(stand);
    const { service } = stand;
    expect(await service.metric('gatehouse_security_events_total{event="sign_in"}')).toBe(1);
    expect(await service.metric('gatehouse_security_events_total{event="client_refused"}')).toBe(1);
    expect(await service.metric('gatehouse_client_authentication_failures_total{reason="wrong_secret"}')).toBe(1);
  });
});

describe('the audit trail of the signing keys', () => {
  const MINUTE = 60_000;
  const DAY = 24 * 60 * MINUTE;
  let told: readonly Line[] = [];

  beforeAll(async () => {
    const cluster = await startCluster({ isNew: true });
    const { clock, service } = await startDrivenReady(cluster);
    const keyLines = () => auditOf(service).filter(({ event }) => String(event).startsWith('signing_key_'));
    const until = (event: string) => clock.until(() => keyLines().some((line) => line['event'] === event), Boolean);
    clock.jumpWall(30 * DAY);
    await until('signing_key_published');
    clock.jumpWall(15 * MINUTE);
    await until('signing_key_activated');
    clock.jumpWall(DAY);
    await until('signing_key_retired');
    const active = String(keyLines().find((line) => line['event'] === 'signing_key_activated')?.['kid']);
    const { kubeconfig } = writeFiles({ kubeconfig: cluster.kubeconfig() });
    const { config } = writeFiles({ config: JSON.stringify({ kubernetes: { kubeconfig } }) });
    await clock.during(runProgram(['keys', 'revoke', active, '--config', config]));
    await until('signing_key_revoked');
    // The day of the next key may have come while the command ran.
    const [first, ...later] = keyLines().filter(({ event }) => event === 'signing_key_published');
    told = keyLines().filter((line) => line === first || !later.includes(line));
  });

  test('R-22 has one line for each change of a key', () => {
    const kid = (at: number): unknown => told[at]?.['kid'];
    expect(told.map(({ event, kid: whose }) => [event, whose])).toEqual([
      ['signing_key_created', expect.any(String)],
      ['signing_key_published', expect.any(String)],
      ['signing_key_activated', kid(1)],
      ['signing_key_retired', kid(0)],
      ['signing_key_revoked', kid(1)],
      ['signing_key_activated', expect.any(String)],
    ]);
  });
});
