import { beforeAll, describe, expect, test } from 'vitest';
import { createRoutes } from '../../../src/http/app.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { appParts } from '../http/app-under-test.ts';
import { startDrivenReady } from './driven.ts';
import { runProgram, startProgram, writeFiles } from './program.ts';
import {
  type Answer,
  CLIENT,
  eventually,
  NODES,
  type Pair,
  passwordOf,
  type Service,
  startCluster,
  startService,
} from './stand.ts';

type Line = Readonly<Record<string, unknown>>;

const CALLER = 'canary-caller-bearer';
const CONSOLE = { client_id: 'console', client_secret: 'canary-secret-of-console' };
const OTHER = { client_id: 'other', client_secret: 'canary-secret-of-other' };
/** What a caller types in the wrong field, or makes up. */
const TYPED = {
  name: 'canary-typed-as-a-name',
  password: 'canary-wrong-password',
  client: 'canary-typed-as-a-client',
  secret: 'canary-wrong-secret',
  bearer: 'canary-wrong-bearer',
  token: 'canary.wrong.token',
};

const clients = [
  { name: CONSOLE.client_id, secret: CONSOLE.client_secret },
  { name: OTHER.client_id, secret: OTHER.client_secret, introspectAll: true },
  { name: 'app', public: true, grantTypes: ['refresh_token'] },
];

const auditOf = ({ gatehouse }: Service): readonly Line[] => gatehouse.log.filter((line) => line['logger'] === 'audit');
const acts = (service: Service): readonly Line[] => auditOf(service).filter((line) => line['result'] !== undefined);

const sidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid as string;

/** The tokens that the acts pass on to each other, and those that were seen. */
class Tokens {
  readonly seen: string[] = [];
  pairs: Pair[] = [];

  take({ body }: Answer): void {
    const pair = body as Pair;
    this.pairs.push(pair);
    this.seen.push(pair.access_token, pair.refresh_token);
  }

  /** The pair that came so many acts ago. */
  last(back = 1): Pair {
    return this.pairs.at(-back) as Pair;
  }
}

interface Stand {
  readonly service: Service;
  readonly tokens: Tokens;
}

/** One act: what is sent, and the one line that tells it, apart from where it came from. */
interface Act {
  readonly title: string;
  readonly path: string;
  send(stand: Stand): Promise<Answer>;
  line(tokens: Tokens): Line;
}

const act = (title: string, path: string, send: Act['send'], line: Act['line'] | Line): Act => ({
  title,
  path,
  send,
  line: typeof line === 'function' ? line : () => line,
});

const TOKEN = '/oauth/token';
const post = ({ service }: Stand, path: string, form: Readonly<Record<string, string>>, token?: string) =>
  service.call(path, { form, token });

const signIn =
  (form: Readonly<Record<string, string>> = {}) =>
  async (stand: Stand): Promise<Answer> => {
    const ada = { grant_type: 'password', ...CONSOLE, username: 'ada', password: passwordOf('ada'), ...form };
    const answer = await post(stand, TOKEN, ada);
    if (answer.status === 200) stand.tokens.take(answer);
    return answer;
  };

const refresh =
  (token: (tokens: Tokens) => string, client: Readonly<Record<string, string>> = CONSOLE) =>
  async (stand: Stand): Promise<Answer> => {
    const form = { grant_type: 'refresh_token', ...client, refresh_token: token(stand.tokens) };
    const answer = await post(stand, TOKEN, form);
    if (answer.status === 200) stand.tokens.take(answer);
    return answer;
  };

const ask =
  (path: string, token: (tokens: Tokens) => string, client: Readonly<Record<string, string>> = CONSOLE) =>
  (stand: Stand): Promise<Answer> =>
    post(stand, path, { ...client, token: token(stand.tokens) });

const review = (token: (tokens: Tokens) => string, caller?: string) => async (stand: Stand) => {
  const answer = await fetch(`${stand.service.gatehouse.origin}/oauth/authenticate`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(caller ? { Authorization: `Bearer ${caller}` } : {}) },
    body: JSON.stringify({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: token(stand.tokens) },
    }),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text(), body: undefined };
};

const signOut = (query: string, token: (tokens: Tokens) => string) => (stand: Stand) =>
  stand.service.call(`/oauth/logout${query}`, { token: token(stand.tokens) });

const access = (tokens: Tokens): string => tokens.last().access_token;
/** What the tokens of the newest session are of. */
const ofAda = (line: Line) => (tokens: Tokens) => ({
  ...line,
  user: 'ada',
  clientId: 'console',
  sid: sidOf(tokens.last().access_token),
});
const withoutSid = { user: 'ada', clientId: 'console' };
const clientRefused = { event: 'client_refused', result: 'refused', endpoint: 'token' };

const ACTS: readonly Act[] = [
  act('a sign-in', TOKEN, signIn(), ofAda({ event: 'sign_in', result: 'ok' })),
  act('a wrong password', TOKEN, signIn({ password: TYPED.password }), {
    ...{ event: 'sign_in', result: 'refused', reason: 'invalid_grant' },
    ...withoutSid,
  }),
  act('a name that is nobody’s', TOKEN, signIn({ username: TYPED.name }), {
    ...{ event: 'sign_in', result: 'refused', reason: 'invalid_grant', clientId: 'console' },
  }),
  act('a scope that is not known', TOKEN, signIn({ scope: 'everything' }), {
    ...{ event: 'sign_in', result: 'refused', reason: 'invalid_scope', clientId: 'console' },
  }),
  act('an unknown client', TOKEN, signIn({ client_id: TYPED.client }), { ...clientRefused, reason: 'unknown_client' }),
  act('a wrong secret', TOKEN, signIn({ client_secret: TYPED.secret }), {
    ...{ ...clientRefused, reason: 'wrong_secret', clientId: 'console' },
  }),
  act('no client', TOKEN, signIn({ client_id: '' }), { ...clientRefused, reason: 'no_credentials' }),
  act(
    'a refresh',
    TOKEN,
    refresh((tokens) => tokens.last().refresh_token),
    ofAda({ event: 'refresh', result: 'ok' }),
  ),
  act(
    'a refresh whose answer was lost',
    TOKEN,
    refresh((tokens) => tokens.last(2).refresh_token),
    ofAda({ event: 'refresh', result: 'replayed' }),
  ),
  act(
    'a made-up refresh token',
    TOKEN,
    refresh(() => TYPED.token),
    {
      ...{ event: 'refresh', result: 'refused', reason: 'invalid_grant', clientId: 'console' },
    },
  ),
  act(
    'a refresh token of another client',
    TOKEN,
    refresh((tokens) => tokens.last().refresh_token, OTHER),
    (tokens) => ({
      ...ofAda({ event: 'refresh', result: 'refused', reason: 'invalid_grant' })(tokens),
      clientId: 'other',
    }),
  ),
  act(
    'an introspection of a good token',
    '/oauth/introspect',
    ask('/oauth/introspect', access, OTHER),
    ofAda({ event: 'introspection', result: 'active', askedBy: 'other' }),
  ),
  act(
    'an introspection of nothing',
    '/oauth/introspect',
    ask('/oauth/introspect', () => ''),
    {
      ...{ event: 'introspection', result: 'refused', reason: 'invalid_request', askedBy: 'console' },
    },
  ),
  act(
    'an introspection of a bad one',
    '/oauth/introspect',
    ask('/oauth/introspect', () => TYPED.token),
    {
      ...{ event: 'introspection', result: 'inactive', askedBy: 'console' },
    },
  ),
  act(
    'an introspection by a public client',
    '/oauth/introspect',
    ask('/oauth/introspect', access, { client_id: 'app' }),
    {
      ...{ event: 'introspection', result: 'refused', reason: 'unauthorized_client', askedBy: 'app' },
    },
  ),
  act(
    'an introspection with a wrong secret',
    '/oauth/introspect',
    ask('/oauth/introspect', access, { ...CONSOLE, client_secret: TYPED.secret }),
    { ...clientRefused, endpoint: 'introspect', reason: 'wrong_secret', clientId: 'console' },
  ),
  act(
    'a token review',
    '/oauth/authenticate',
    review(access, CALLER),
    ofAda({ event: 'token_review', result: 'authenticated', askedBy: 'bearer' }),
  ),
  act(
    'a token review of a bad token',
    '/oauth/authenticate',
    review(() => TYPED.token, CALLER),
    {
      ...{ event: 'token_review', result: 'invalid', askedBy: 'bearer' },
    },
  ),
  act('a wrong caller of the token review', '/oauth/authenticate', review(access, TYPED.bearer), {
    ...{ ...clientRefused, endpoint: 'authenticate', reason: 'wrong_bearer' },
  }),
  act('a caller of the token review without a bearer', '/oauth/authenticate', review(access), {
    ...{ ...clientRefused, endpoint: 'authenticate', reason: 'no_credentials' },
  }),
  act('a revocation by another client', '/oauth/revoke', ask('/oauth/revoke', access, OTHER), (tokens) => ({
    ...ofAda({ event: 'revocation', result: 'refused', reason: 'invalid_grant' })(tokens),
    clientId: 'other',
  })),
  act(
    'a revocation with a wrong secret',
    '/oauth/revoke',
    ask('/oauth/revoke', access, { ...CONSOLE, client_secret: TYPED.secret }),
    { ...clientRefused, endpoint: 'revoke', reason: 'wrong_secret', clientId: 'console' },
  ),
  act('a revocation', '/oauth/revoke', ask('/oauth/revoke', access), ofAda({ event: 'revocation', result: 'ended' })),
  act(
    'a revocation of what is over',
    '/oauth/revoke',
    ask('/oauth/revoke', access),
    ofAda({ event: 'revocation', result: 'nothing_to_end' }),
  ),
  act(
    'a refresh of what is over',
    TOKEN,
    refresh((tokens) => tokens.last().refresh_token),
    ofAda({ event: 'refresh', result: 'refused', reason: 'invalid_grant' }),
  ),
  act('a second sign-in', TOKEN, signIn(), ofAda({ event: 'sign_in', result: 'ok' })),
  act(
    'its refresh',
    TOKEN,
    refresh((tokens) => tokens.last().refresh_token),
    ofAda({ event: 'refresh', result: 'ok' }),
  ),
  act(
    'the next',
    TOKEN,
    refresh((tokens) => tokens.last().refresh_token),
    ofAda({ event: 'refresh', result: 'ok' }),
  ),
  act(
    'a refresh token that comes again',
    TOKEN,
    refresh((tokens) => tokens.last(3).refresh_token),
    ofAda({ event: 'refresh_token_reused', result: 'refused', reason: 'invalid_grant' }),
  ),
  act('a third sign-in', TOKEN, signIn(), ofAda({ event: 'sign_in', result: 'ok' })),
  act('a bad sign-out', '/oauth/logout', signOut('?post_logout_redirect_uri=https://x.example', access), (tokens) =>
    ofAda({ event: 'sign_out', result: 'refused', reason: 'invalid_request' })(tokens),
  ),
  act('a sign-out', '/oauth/logout', signOut('', access), ofAda({ event: 'sign_out', result: 'ok', scope: 'session' })),
  act(
    'a sign-out with a bad token',
    '/oauth/logout',
    signOut('', () => TYPED.token),
    {
      ...{ event: 'sign_out', result: 'refused', reason: 'invalid_token' },
    },
  ),
  act('a fourth sign-in', TOKEN, signIn(), ofAda({ event: 'sign_in', result: 'ok' })),
  act(
    'a sign-out of all sessions',
    '/oauth/logout',
    signOut('?all=true', access),
    ofAda({ event: 'sign_out', result: 'ok', scope: 'user' }),
  ),
];

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

async function startWalk(): Promise<Stand> {
  const { token: callerTokenFile } = writeFiles({ token: CALLER });
  const config = { authentication: { oauthOptions: { clients }, tokenReview: { callerTokenFile } } };
  return { service: await startService(await startCluster(), { config }), tokens: new Tokens() };
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
    const secrets = [
      ...stand.tokens.seen.flatMap((token) => [token, token.split('.')[2] ?? token]),
      ...Object.values(TYPED),
      ...[CALLER, CONSOLE.client_secret, OTHER.client_secret, passwordOf('ada')],
    ];
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
    const cluster = await startCluster({ isNew: true });
    const [port = 0] = await freePorts(1);
    const program = await startProgram(cluster, { config: { server: { port }, log: { level: 'warn' } } });
    const origin = `http://127.0.0.1:${port}`;
    await eventually(
      () =>
        fetch(`${origin}/readyz`).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
    );
    const form = { grant_type: 'password', ...CLIENT, username: 'ada', password: passwordOf('ada') };
    await fetch(`${origin}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    program.signal('SIGTERM');
    const { stdout } = await program.ended;
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
    told = keyLines();
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
