import { FORM } from './draft.ts';
import { TOKEN_FLOWS, type Variation } from './plan.ts';

/** The request as HTTP and as a form: what comes before the client is even looked for. */
export const formVariations: readonly Variation[] = [
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'].map(
    (method): Variation => ({
      name: `method ${method}`,
      phase: 'method',
      apply: (draft) => {
        draft.method = method;
      },
    }),
  ),
  ...['application/json', 'application/*', '*/*'].map(
    (accept): Variation => ({
      name: `accept ${accept}`,
      phase: 'spelling',
      apply: (draft) => draft.header('Accept', accept),
    }),
  ),
  ...['text/html', 'text/html, application/json;q=0.5'].map(
    (accept): Variation => ({
      name: `accept ${accept}`,
      phase: 'accept',
      alone: true,
      apply: (draft) => draft.header('Accept', accept),
    }),
  ),
  ...[
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencode',
    'application/x-www-form-urlencoded2',
  ].map(
    (type): Variation => ({
      name: `type ${type}`,
      phase: 'content type',
      apply: (draft) => draft.header('Content-Type', type),
    }),
  ),
  { name: 'no type', phase: 'content type', apply: (draft) => draft.header('Content-Type') },
  {
    name: 'JSON body',
    phase: 'content type',
    apply: (draft) => {
      draft.header('Content-Type', 'application/json');
      draft.body = '{"grant_type":"password"}';
    },
  },
  ...[
    `${FORM}; charset=utf-8`,
    `${FORM};charset="UTF-8"`,
    `${FORM};`,
    'Application/X-WWW-Form-URLEncoded',
    `${FORM}; charset=iso-8859-1`,
    `${FORM}; charset=us-ascii`,
    `${FORM}; charset=no-such-charset`,
    `${FORM}; boundary=x`,
  ].map(
    (type): Variation => ({
      name: `type ${type}`,
      phase: 'spelling',
      apply: (draft) => draft.header('Content-Type', type),
    }),
  ),
  ...['?client_id=console', '?x=1', '?grant_type=password'].map(
    (query): Variation => ({
      name: 'a query',
      phase: 'query',
      apply: (draft) => {
        draft.query = query;
      },
    }),
  ),
  { name: 'a body of 20 KiB', phase: 'size', apply: (draft) => draft.add('padding', 'x'.repeat(20 * 1024)) },
  { name: 'a body of 80 KiB', phase: 'size', apply: (draft) => draft.add('padding', 'x'.repeat(80 * 1024)) },
  { name: 'a body of 6 KiB', phase: 'spelling', apply: (draft) => draft.add('padding', 'x'.repeat(6 * 1024)) },
  {
    name: '70 parameters',
    phase: 'count',
    apply: (draft) => {
      for (let index = 0; index < 70; index++) draft.add(`p${index}`, 'x');
    },
  },
  {
    name: '60 parameters',
    phase: 'spelling',
    apply: (draft) => {
      for (let index = 0; index < 50; index++) draft.add(`p${index}`, 'x');
    },
  },
  ...['note=%zz', 'note=%', 'note=%c3%28', 'note=%ff', 'n%zz=1', 'note=\xff'].map(
    (pair): Variation => ({ name: 'a broken escape or byte', phase: 'encoding', apply: (draft) => draft.addRaw(pair) }),
  ),
  {
    name: 'an unknown parameter twice',
    phase: 'repeats',
    apply: (draft) => {
      draft.add('note', '1');
      draft.add('note', '2');
    },
  },
  { name: 'grant_type twice', phase: 'repeats', flows: TOKEN_FLOWS, apply: (draft) => draft.repeat('grant_type') },
  {
    name: 'client_id twice',
    phase: 'repeats',
    styles: ['client_secret_post'],
    apply: (draft) => draft.repeat('client_id'),
  },
  {
    name: 'client_secret twice',
    phase: 'repeats',
    styles: ['client_secret_post'],
    apply: (draft) => draft.repeat('client_secret'),
  },
  { name: 'username twice', phase: 'repeats', flows: ['password'], apply: (draft) => draft.repeat('username') },
  { name: 'password twice', phase: 'repeats', flows: ['password'], apply: (draft) => draft.repeat('password') },
  {
    name: 'refresh_token twice',
    phase: 'repeats',
    flows: ['refresh_token'],
    apply: (draft) => draft.repeat('refresh_token'),
  },
  {
    name: 'scope twice',
    phase: 'repeats',
    flows: TOKEN_FLOWS,
    apply: (draft) => {
      draft.add('scope', 'profile');
      draft.add('scope', 'profile');
    },
  },
  {
    name: 'an empty scope twice',
    phase: 'repeats',
    flows: TOKEN_FLOWS,
    apply: (draft) => {
      draft.add('scope', '');
      draft.add('scope', '');
    },
  },
  {
    name: "another grant's parameter twice",
    phase: 'repeats',
    flows: TOKEN_FLOWS,
    apply: (draft) => {
      draft.add('code', '1');
      draft.add('code', '2');
    },
  },
];
