import { freePorts } from '../../support/control-plane/free-ports.ts';
import { startProgram, writeFiles } from './program.ts';
import {
  type Answer,
  CLIENT,
  eventually,
  type Pair,
  passwordOf,
  type Service,
  startCluster,
  startService,
} from './stand.ts';

export type Line = Readonly<Record<string, unknown>>;

const CALLER = 'canary-caller-bearer';
export const CONSOLE = { client_id: 'console', client_secret: 'canary-secret-of-console' };
const OTHER = { client_id: 'other', client_secret: 'canary-secret-of-other' };
/** What a caller types in the wrong field, or makes up. */
export const TYPED = {
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

const sidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid as string;

/** The tokens that the acts pass on to each other, and those that were seen. */
export class Tokens {
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

export interface Stand {
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

export const TOKEN = '/oauth/token';
export const post = ({ service }: Stand, path: string, form: Readonly<Record<string, string>>, token?: string) =>
  service.call(path, { form, token });

export const signIn =
  (form: Readonly<Record<string, string>> = {}) =>
  async (stand: Stand): Promise<Answer> => {
    const ada = { grant_type: 'password', ...CONSOLE, username: 'ada', password: passwordOf('ada'), ...form };
    const answer = await post(stand, TOKEN, ada);
    if (answer.status === 200) stand.tokens.take(answer);
    return answer;
  };

export const refresh =
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

export const access = (tokens: Tokens): string => tokens.last().access_token;
/** What the tokens of the newest session are of. */
const ofAda = (line: Line) => (tokens: Tokens) => ({
  ...line,
  user: 'ada',
  clientId: 'console',
  sid: sidOf(tokens.last().access_token),
});
const withoutSid = { user: 'ada', clientId: 'console' };
const clientRefused = { event: 'client_refused', result: 'refused', endpoint: 'token' };

export const ACTS: readonly Act[] = [
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

/** A service with the clients of the acts. `log`: its settings of the log. */
export async function startWalk(log = {}): Promise<Stand> {
  const { token: callerTokenFile } = writeFiles({ token: CALLER });
  const config = { log, authentication: { oauthOptions: { clients }, tokenReview: { callerTokenFile } } };
  return { service: await startService(await startCluster(), { config }), tokens: new Tokens() };
}

/** Everything secret, and everything typed, that the acts have sent or got. */
export const secretsOf = ({ tokens }: Stand): readonly string[] => [
  ...tokens.seen.flatMap((token) => [token, token.split('.')[2] ?? token]),
  ...Object.values(TYPED),
  ...[CALLER, CONSOLE.client_secret, OTHER.client_secret, passwordOf('ada')],
];

/** What a new installation prints until Ada has signed in. `log`: its settings of the log. */
export async function printedBySignIn(log: object): Promise<string> {
  const cluster = await startCluster({ isNew: true });
  const [port = 0] = await freePorts(1);
  const program = await startProgram(cluster, { config: { server: { port }, log } });
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
  return (await program.ended).stdout;
}
