import { app, odd } from './people.ts';
import { QUESTION_FLOWS, type Setting, type Variation } from './plan.ts';

const token = (name: string, make: (sessions: Setting['sessions']) => string | Promise<string>): Variation => ({
  name: `about ${name}`,
  phase: 'grant',
  flows: QUESTION_FLOWS,
  apply: async (draft, { sessions }) => draft.set('token', await make(sessions)),
});

/** A JWT by its form, of nobody that either server knows. */
const FOREIGN = [{ alg: 'RS256', typ: 'at+jwt', kid: 'made-up' }, { iss: 'https://elsewhere.example.com' }]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.');

/** What revocation and introspection are asked about (RFC 7009 2.1, RFC 7662 2.1). */
export const tokenVariations: readonly Variation[] = [
  { name: 'about nothing', phase: 'grant', flows: QUESTION_FLOWS, apply: (draft) => draft.drop('token') },
  token('an empty token', () => ''),
  token('garbage', () => 'made-up'),
  token('garbage in three parts', () => 'made.up.token'),
  { ...token('a token of 9 KiB', () => 'x'.repeat(9 * 1024)), alone: true },
  token('a foreign JWT', () => `${FOREIGN}.AAAA`),
  token('a refresh token', async (sessions) => (await sessions.signIn()).refresh_token),
  token('an access token', async (sessions) => (await sessions.signIn()).access_token),
  token('a token without scope', async (sessions) => (await sessions.signIn({ scope: '' })).access_token),
  token("another client's refresh token", async (sessions) => (await sessions.signIn({ client: odd })).refresh_token),
  token("another client's access token", async (sessions) => (await sessions.signIn({ client: odd })).access_token),
  token('a token that was just replaced', (sessions) => sessions.replaced()),
  token('a token that was replaced long ago', (sessions) => sessions.replacedLongAgo()),
  token('a token twice rotated', async (sessions) => (await sessions.replacedTwice()).newest.refresh_token),
  token('an access token of a session with reuse', async (sessions) => (await sessions.ofReused()).access_token),
  ...(['access_token', 'refresh_token'] as const).flatMap((by) =>
    (['access_token', 'refresh_token'] as const).map((which) =>
      token(`the ${which} of a session revoked by ${by}`, async (sessions) => (await sessions.revokedBy(by))[which]),
    ),
  ),
  ...['access_token', 'refresh_token', 'nonsense', ''].map(
    (hint): Variation => ({
      name: `the hint ${hint || 'of nothing'}`,
      phase: 'spelling',
      flows: QUESTION_FLOWS,
      apply: (draft) => draft.add('token_type_hint', hint),
    }),
  ),
  { name: 'token twice', phase: 'repeats', flows: QUESTION_FLOWS, apply: (draft) => draft.repeat('token') },
  {
    name: 'token_type_hint twice',
    phase: 'repeats',
    flows: QUESTION_FLOWS,
    apply: (draft) => draft.repeat('token_type_hint'),
  },
  ...QUESTION_FLOWS.map(
    (flow): Variation => ({
      name: `a public client at ${flow}`,
      phase: 'grant',
      alone: true,
      flows: [flow],
      styles: ['client_secret_post'],
      apply: (draft) => {
        draft.set('client_id', app.id);
        draft.drop('client_secret');
      },
    }),
  ),
];
