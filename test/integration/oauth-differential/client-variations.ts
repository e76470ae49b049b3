import { app, basic, consoleClient, formEncoded, odd, refreshOnly } from './people.ts';
import type { Variation } from './plan.ts';

const { id, secret = '' } = consoleClient;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const header = (name: string, ...values: readonly string[]): Variation => ({
  name,
  phase: 'client',
  styles: ['client_secret_basic'],
  apply: (draft) => draft.header('Authorization', ...values),
});

const form = (name: string, parameters: Readonly<Record<string, string | undefined>>): Variation => ({
  name,
  phase: 'client',
  styles: ['client_secret_post'],
  apply: (draft) => {
    for (const [parameter, value] of Object.entries(parameters)) {
      if (value === undefined) draft.drop(parameter);
      else draft.set(parameter, value);
    }
  },
});

/** How the client proves itself, and how it fails to (RFC 6749 2.3). */
export const clientVariations: readonly Variation[] = [
  form('a wrong secret', { client_secret: 'wrong' }),
  form('the secret in another case', { client_secret: secret.toUpperCase() }),
  form('the secret with a space behind it', { client_secret: `${secret} ` }),
  form('an unknown client', { client_id: 'nobody' }),
  form('the client in another case', { client_id: 'Console' }),
  form('the client with a zero byte', { client_id: 'console\0' }),
  form('the client named like a property', { client_id: '__proto__' }),
  form('no secret', { client_secret: undefined }),
  form('an empty secret', { client_secret: '' }),
  form('no client', { client_id: undefined, client_secret: undefined }),
  form('an empty client', { client_id: '', client_secret: undefined }),
  form('a secret without client', { client_id: undefined }),
  form("another client's secret", { client_secret: refreshOnly.secret }),
  form('a public client with a secret', { client_id: app.id, client_secret: 'made up' }),
  {
    ...form('a client that may not', { client_id: app.id, client_secret: undefined }),
    phase: 'permission',
    alone: true,
    flows: ['password'],
  },
  header('Basic with a wrong secret', basic({ id, secret: 'wrong' })),
  header('Basic with an unknown client', basic({ id: 'nobody', secret })),
  header('Basic without a secret', basic({ id })),
  header('Basic without a client', basic({ id: '', secret })),
  header('Basic with nothing', basic({ id: '' })),
  header('Basic that is not base64', 'Basic *****'),
  header('Basic in base64url', 'Basic _-_-'),
  header('Basic without a colon', `Basic ${base64('console')}`),
  header('Basic without credentials', 'Basic'),
  header('Basic with a broken escape', `Basic ${base64(`${id}:%zz`)}`),
  header('Basic with bytes that are not UTF-8', `Basic ${Buffer.from('console:\xff', 'latin1').toString('base64')}`),
  header('Basic with a control character', basic({ id, secret: `${secret}\n` })),
  header('Digest', 'Digest username="console"'),
  header('Bearer instead of Basic', 'Bearer made-up'),
  { ...header('two Basic headers', basic(consoleClient), basic(consoleClient)), alone: true },
  {
    name: 'Basic and the same secret in the form',
    phase: 'client',
    styles: ['client_secret_basic'],
    apply: (draft) => draft.set('client_secret', secret),
  },
  {
    name: 'Basic and another client in the form',
    phase: 'client',
    styles: ['client_secret_basic'],
    apply: (draft) => draft.set('client_id', refreshOnly.id),
  },
  {
    name: 'Basic and the same client in the form',
    phase: 'spelling',
    alone: true,
    styles: ['client_secret_basic'],
    apply: (draft) => draft.set('client_id', id),
  },
  { ...header('basic in lower case', basic(consoleClient).replace('Basic', 'basic')), phase: 'spelling' },
  { ...header('Basic and two spaces', basic(consoleClient).replace(' ', '  ')), phase: 'spelling' },
  { ...header('Basic without padding', basic(consoleClient).replace(/=+$/, '')), phase: 'spelling' },
  {
    name: 'a bearer beside the form',
    phase: 'client',
    styles: ['client_secret_post'],
    alone: true,
    apply: (draft) => draft.header('Authorization', 'Bearer made-up'),
  },
  {
    name: 'a bearer beside a refresh token that is not valid',
    phase: 'grant',
    flows: ['refresh_token'],
    styles: ['client_secret_post'],
    alone: true,
    apply: (draft) => {
      draft.header('Authorization', 'Bearer made-up');
      draft.set('refresh_token', 'made-up');
    },
  },
  {
    ...header('Basic of a client with an odd name', basic(odd)),
    flows: ['password'],
    phase: 'spelling',
  },
  {
    ...header('Basic of an odd client, not form-encoded', `Basic ${base64(`${odd.id}:${odd.secret}`)}`),
    flows: ['password'],
  },
  {
    ...form('a client with an odd name', { client_id: odd.id, client_secret: odd.secret }),
    flows: ['password'],
    phase: 'spelling',
  },
  {
    ...header('Basic of a client that may not', basic(refreshOnly)),
    flows: ['password'],
    phase: 'permission',
    alone: true,
  },
  {
    ...header('Basic of a public client', `Basic ${base64(`${formEncoded(app.id)}:`)}`),
    flows: ['password'],
    phase: 'permission',
    alone: true,
  },
];
