import { ada, app, basic, odd, zoe } from './people.ts';
import { type Flow, type Setting, TOKEN_FLOWS, type Variation } from './plan.ts';

const PASSWORD: readonly Flow[] = ['password'];
const REFRESH: readonly Flow[] = ['refresh_token'];

const grantType = (name: string, value: string | undefined): Variation => ({
  name,
  phase: 'grant type',
  flows: TOKEN_FLOWS,
  apply: (draft) => (value === undefined ? draft.drop('grant_type') : draft.set('grant_type', value)),
});

const scope = (name: string, value: string, more: Partial<Variation> = {}): Variation => ({
  name,
  phase: 'scope',
  flows: TOKEN_FLOWS,
  apply: (draft) => draft.set('scope', value),
  ...more,
});

const person = (name: string, parameters: Readonly<Record<string, string | undefined>>): Variation => ({
  name,
  phase: 'grant',
  flows: PASSWORD,
  apply: (draft) => {
    for (const [parameter, value] of Object.entries(parameters)) {
      if (value === undefined) draft.drop(parameter);
      else draft.set(parameter, value);
    }
  },
});

const token = (name: string, make: (setting: Setting) => string | Promise<string>): Variation => ({
  name,
  phase: 'grant',
  flows: REFRESH,
  apply: async (draft, setting) => draft.set('refresh_token', await make(setting)),
});

/** What is asked for: grant type and scope, people and refresh tokens. */
export const grantVariations: readonly Variation[] = [
  grantType('no grant type', undefined),
  grantType('an empty grant type', ''),
  ...['PASSWORD', 'Refresh_Token', 'nonsense', 'implicit', 'token', 'password refresh_token', '__proto__'].map(
    (value) => grantType(`grant type ${value}`, value),
  ),
  ...['client_credentials', 'urn:ietf:params:oauth:grant-type:device_code', 'authorization_code'].map((value) =>
    grantType(`grant type ${value}`, value),
  ),
  scope('an unknown scope', 'nonsense'),
  scope('a known and an unknown scope', 'profile nonsense'),
  scope('a scope in another case', 'Profile'),
  scope('a scope with a forbidden character', 'pro"file'),
  scope('a scope with a tab', 'profile\temail'),
  scope('two spaces in the scope', 'profile  email', { phase: 'spelling' }),
  scope('a space before the scope', ' profile', { phase: 'spelling' }),
  scope('a scope', 'profile email', { flows: PASSWORD, phase: 'spelling' }),
  scope('the scope openid', 'openid', { flows: PASSWORD, phase: 'spelling' }),
  scope('a scope twice in one', 'profile profile', { phase: 'spelling' }),
  scope('the scope of the session', 'profile email', { flows: REFRESH, phase: 'spelling' }),
  scope('the scope in another order', 'email profile', { flows: REFRESH, phase: 'spelling' }),
  scope('less scope', 'profile', { flows: REFRESH, phase: 'spelling' }),
  scope('more scope', 'profile email offline_access', { flows: REFRESH, phase: 'grant' }),
  person('no username', { username: undefined }),
  person('an empty username', { username: '' }),
  person('no password', { password: undefined }),
  person('an empty password', { password: '' }),
  person('neither name nor password', { username: undefined, password: undefined }),
  person('an unknown person', { username: 'nobody' }),
  person('a wrong password', { password: 'wrong' }),
  person("another person's password", { username: ada.name, password: zoe.password }),
  person('the name in another case', { username: 'Ada' }),
  person('the name with a space', { username: 'ada ' }),
  person('the name with a zero byte', { username: 'ada\0' }),
  person('a name like a property', { username: '__proto__' }),
  { ...person('a very long name', { username: 'a'.repeat(5_000) }), alone: true },
  person('a very long password', { password: ada.password.repeat(200) }),
  person('the password with a space', { password: `${ada.password} ` }),
  person('the password in another case', { password: ada.password.toUpperCase() }),
  person('the password with a zero byte', { password: `${ada.password}\0` }),
  person('the password in another normal form', { username: zoe.name, password: zoe.password.normalize('NFD') }),
  { ...person('a person with an odd password', { username: zoe.name, password: zoe.password }), phase: 'spelling' },
  { ...person('a person by e-mail', { username: ada.email }), phase: 'spelling' },
  { name: 'no token', phase: 'grant', flows: REFRESH, apply: (draft) => draft.drop('refresh_token') },
  token('an empty token', () => ''),
  token('garbage', () => 'made-up'),
  token('garbage in three parts', () => 'made.up.token'),
  { ...token('a token of 9 KiB', () => 'x'.repeat(9 * 1024)), alone: true },
  token('an altered token', async ({ sessions }) => {
    const { refresh_token: text } = await sessions.current();
    const last = text.at(-10) === 'A' ? 'B' : 'A';
    return text.slice(0, -10) + last + text.slice(-9);
  }),
  token('a token with a space', async ({ sessions }) => `${(await sessions.current()).refresh_token} `),
  token('an access token', async ({ sessions }) => (await sessions.current()).access_token),
  token("another client's token", async ({ sessions }) => (await sessions.signIn({ client: odd })).refresh_token),
  token('a token that was just replaced', ({ sessions }) => sessions.replaced()),
  token('a token that was replaced long ago', ({ sessions }) => sessions.replacedLongAgo()),
  token('a token two generations old', async ({ sessions }) => (await sessions.replacedTwice()).oldest),
  token('a token twice rotated', async ({ sessions }) => (await sessions.replacedTwice()).newest.refresh_token),
  token('a token of a session with reuse', async ({ sessions }) => (await sessions.ofReused()).refresh_token),
  ...(['access_token', 'refresh_token'] as const).map((which) =>
    token(
      `a token of a session revoked by ${which}`,
      async ({ sessions }) => (await sessions.revokedBy(which)).refresh_token,
    ),
  ),
  ...['openid', ''].map((words) => ({
    ...token(`a token with the scope ${words || 'of nothing'}`, async ({ sessions }) => {
      return (await sessions.signIn({ scope: words })).refresh_token;
    }),
    alone: true,
  })),
  {
    name: "a public client with another's token",
    phase: 'grant',
    alone: true,
    flows: REFRESH,
    styles: ['client_secret_post'],
    apply: (draft) => {
      draft.set('client_id', app.id);
      draft.drop('client_secret');
    },
  },
  {
    name: 'Basic of another client',
    phase: 'grant',
    alone: true,
    flows: REFRESH,
    styles: ['client_secret_basic'],
    apply: (draft) => draft.header('Authorization', basic(odd)),
  },
];
