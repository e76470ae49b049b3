import type { Draft } from './draft.ts';
import { FORM } from './draft.ts';
import { basic, consoleClient } from './people.ts';
import type { Flow, Setting, Variation } from './plan.ts';

const USERINFO: readonly Flow[] = ['userinfo'];

const bearer = (name: string, change: (draft: Draft, setting: Setting) => void | Promise<void>): Variation => ({
  name: `userinfo ${name}`,
  phase: 'grant',
  flows: USERINFO,
  alone: true,
  apply: change,
});

const header = (name: string, ...values: readonly string[]): Variation =>
  bearer(name, (draft) => draft.header('Authorization', ...values));

const token = (name: string, make: (sessions: Setting['sessions']) => string | Promise<string>): Variation =>
  bearer(name, async (draft, { sessions }) => draft.header('Authorization', `Bearer ${await make(sessions)}`));

const tokenOf = async ({ sessions }: Setting): Promise<string> => (await sessions.withOpenid()).access_token;

/** The ways to present an access token and to fail at it (RFC 6750 2, 3). */
export const bearerVariations: readonly Variation[] = [
  bearer('by POST', (draft) => {
    draft.method = 'POST';
    draft.header('Content-Type', FORM);
  }),
  ...['HEAD', 'PUT', 'DELETE'].map((method) =>
    bearer(`by ${method}`, (draft) => {
      draft.method = method;
    }),
  ),
  bearer('with the scheme in lower case', async (draft, setting) =>
    draft.header('Authorization', `bearer ${await tokenOf(setting)}`),
  ),
  bearer('with two spaces', async (draft, setting) =>
    draft.header('Authorization', `Bearer  ${await tokenOf(setting)}`),
  ),
  bearer('twice', async (draft, setting) => {
    const value = `Bearer ${await tokenOf(setting)}`;
    draft.header('Authorization', value, value);
  }),
  header('without a bearer'),
  header('with a bearer of nothing', 'Bearer'),
  header('with a bearer of two words', 'Bearer made up'),
  header('with Basic', basic(consoleClient)),
  header('with Digest', 'Digest username="ada"'),
  header('with garbage', 'Bearer made-up'),
  header('with garbage in three parts', 'Bearer made.up.token'),
  header('with forbidden characters', 'Bearer mäde-up'),
  token('with a refresh token', async (sessions) => (await sessions.withOpenid()).refresh_token),
  token('without the scope openid', async (sessions) => (await sessions.current()).access_token),
  token('after revocation', async (sessions) => (await sessions.revokedBy('refresh_token')).access_token),
  token('after revocation of itself', async (sessions) => (await sessions.revokedBy('access_token')).access_token),
  token('after reuse', async (sessions) => (await sessions.ofReused()).access_token),
  bearer('with the token in the address', async (draft, setting) => {
    draft.header('Authorization');
    draft.query = `?access_token=${await tokenOf(setting)}`;
  }),
  bearer('with the token in a form', async (draft, setting) => {
    draft.header('Authorization');
    draft.header('Content-Type', FORM);
    draft.method = 'POST';
    draft.add('access_token', await tokenOf(setting));
  }),
];
