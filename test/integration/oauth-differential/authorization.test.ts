import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../../support/browser.ts';
import { CALLBACK, type Server, startGatehouseServer, startPeerServer } from './authorization-peers.ts';

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'; // RFC 7636 appendix B
const S256 = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
const AT_CLIENT = (what: string): string => `${what}, state, iss`;
const INVALID = AT_CLIENT('invalid_request');
const CODE = AT_CLIENT('code');

const UNSUPPORTED = AT_CLIENT('unsupported_response_type');
const IN_FRAGMENT = [
  `${UNSUPPORTED} by fragment`,
  'oidc-provider answers where a token would be; Gatehouse has no response in a fragment, not even an error',
] as const;
const NONCE_WITHOUT_OPENID = [
  INVALID,
  'Gatehouse ignores a nonce without openid, like every parameter that has no use (RFC 6749 3.1)',
] as const;

interface Case {
  readonly title: string;
  /** What differs from a whole request; `undefined` leaves a parameter out. */
  readonly change: Readonly<Record<string, string | undefined>>;
  /** Appended as it is. */
  readonly more?: string;
  readonly outcome: string;
  /** What oidc-provider does, if it is something else, and why Gatehouse does not do the same. */
  readonly peer?: readonly [outcome: string, why: string];
}

const one = (title: string, change: Case['change'], outcome: string, peer?: Case['peer']): Case => ({
  ...{ title, change, outcome },
  ...(peer ? { peer } : {}),
});
const twice = (name: string, value: string, outcome: string, peer?: Case['peer']): Case => ({
  ...one(`${name} twice`, {}, outcome, peer),
  more: `&${name}=${encodeURIComponent(value)}`,
});

const NOBODY: readonly Case[] = [
  one('a whole request', {}, 'sign-in page'),
  one('an unknown client', { client_id: 'nobody' }, 'error page'),
  one('no client', { client_id: undefined }, 'error page'),
  one('an unknown address', { redirect_uri: 'https://evil.example.com/' }, 'error page'),
  one('a longer address', { redirect_uri: `${CALLBACK}/more` }, 'error page'),
  one('an address with a query', { redirect_uri: `${CALLBACK}?a=b` }, 'error page'),
  one('no address, with openid', { redirect_uri: undefined }, 'error page', [
    'sign-in page',
    'OpenID Connect Core 3.1.2.1 demands the address; oidc-provider takes the only registered one',
  ]),
  one('no address, without openid', { redirect_uri: undefined, scope: 'profile', nonce: undefined }, 'sign-in page'),
  twice('state', 's-2', 'invalid_request, iss'),
  twice('scope', 'openid', INVALID),
  twice('client_id', 'web', 'error page'),
  twice('redirect_uri', CALLBACK, 'error page', [
    INVALID,
    'no address is known to be meant; oidc-provider drops both and takes the only registered one',
  ]),
  {
    ...one('an unknown parameter twice', { unknown: 'a' }, INVALID, [
      'sign-in page',
      'RFC 6749 3.1 allows no parameter twice; oidc-provider does not read those that it does not know',
    ]),
    more: '&unknown=b',
  },
  one('no response_type', { response_type: undefined }, INVALID),
  one('the response_type token', { response_type: 'token' }, UNSUPPORTED, IN_FRAGMENT),
  one('the response_type code token', { response_type: 'code token' }, UNSUPPORTED, IN_FRAGMENT),
  one('a public client without a challenge', { client_id: 'public' }, INVALID),
  one('a public client with a challenge', { client_id: 'public', ...S256 }, 'sign-in page'),
  one('a plain challenge', { code_challenge: CHALLENGE, code_challenge_method: 'plain' }, INVALID),
  one('a challenge without a method', { code_challenge: CHALLENGE }, INVALID),
  one('a method without a challenge', { code_challenge_method: 'S256' }, INVALID),
  one('a challenge that is too short', { ...S256, code_challenge: 'short' }, INVALID),
  one('an unknown response_mode', { response_mode: 'carrier_pigeon' }, INVALID, [
    AT_CLIENT('unsupported_response_mode'),
    'that error code is in no registry, so clients need not know it',
  ]),
  one('the response_mode fragment', { response_mode: 'fragment' }, INVALID, [
    'sign-in page',
    'a code in a fragment is for scripts alone, and the metadata do not offer it (B-05)',
  ]),
  one(
    'an error by form_post',
    { response_mode: 'form_post', prompt: 'none' },
    `${AT_CLIENT('login_required')} by form`,
  ),
  one('a max_age that is no number', { max_age: 'abc' }, INVALID),
  one('a negative max_age', { max_age: '-1' }, INVALID),
  one('a request object', { request: 'e30.e30.' }, AT_CLIENT('request_not_supported')),
  one('a request_uri', { request_uri: 'https://app.example.com/r' }, AT_CLIENT('request_uri_not_supported')),
  one('a registration', { registration: '{}' }, AT_CLIENT('registration_not_supported')),
  one('prompt=none', { prompt: 'none' }, AT_CLIENT('login_required')),
  one('prompt=none beside another word', { prompt: 'none login' }, INVALID),
  one('an unknown word of prompt', { prompt: 'dance' }, INVALID),
  one('an unknown scope', { scope: 'openid dance' }, 'sign-in page'),
  one('no scope', { scope: undefined, nonce: undefined }, 'sign-in page'),
  one('no scope, with a nonce', { scope: undefined }, 'sign-in page', NONCE_WITHOUT_OPENID),
  one('an ID token of nobody', { id_token_hint: 'garbage' }, 'sign-in page', [
    INVALID,
    'a hint may be older than our keys; the password is asked for, and who enters it is known (B-13)',
  ]),
  one('unknown parameters', { access_type: 'offline', hd: 'example.com' }, 'sign-in page'),
  one('no state', { state: undefined, prompt: 'none' }, 'login_required, iss'),
];

const SIGNED_IN: readonly Case[] = [
  one('a whole request', {}, CODE),
  one('a whole request without a state', { state: undefined }, 'code, iss'),
  one('a public client with a challenge', { client_id: 'public', ...S256 }, CODE),
  one('a code by form_post', { response_mode: 'form_post' }, `${CODE} by form`),
  one('prompt=none', { prompt: 'none' }, CODE),
  one('prompt=login', { prompt: 'login' }, 'sign-in page'),
  one('prompt=consent', { prompt: 'consent' }, 'consent page'),
  one('prompt=select_account', { prompt: 'select_account' }, 'sign-in page', [
    INVALID,
    'oidc-provider knows that word only where its user has written a page for it',
  ]),
  one('a max_age that has not passed', { max_age: '10000' }, CODE),
  one('the max_age 0', { max_age: '0' }, 'sign-in page'),
  one('the max_age 0 with prompt=none', { max_age: '0', prompt: 'none' }, AT_CLIENT('login_required')),
  one('the name of another person', { login_hint: 'bob' }, 'sign-in page', [
    CODE,
    'the client expects Bob, and Ada’s session is not his (B-13); oidc-provider leaves the hint to its pages',
  ]),
  one('the scope profile alone', { scope: 'profile', nonce: undefined }, CODE),
  one('no scope', { scope: undefined, nonce: undefined }, CODE, [
    AT_CLIENT('access_denied'),
    'a scope gives no rights here, so a request without one has nothing to be refused',
  ]),
];

let gatehouse: Server;
let peer: Server;
const browsers = { gatehouse: new Browser(), peer: new Browser() };
beforeAll(async () => {
  [gatehouse, peer] = await Promise.all([startGatehouseServer(), startPeerServer()]);
  [browsers.gatehouse, browsers.peer] = await Promise.all([gatehouse.signedIn(), peer.signedIn()]);
});
afterAll(async () => {
  await gatehouse.stop();
  await peer.stop();
});

const WHOLE = {
  ...{ client_id: 'web', redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' },
  ...{ state: 's-1', nonce: 'n-1' },
};

function queryOf({ change, more = '' }: Case): string {
  const given = Object.entries({ ...WHOLE, ...change }).filter(([, value]) => value !== undefined);
  return `${new URLSearchParams(given as [string, string][])}${more}`;
}

async function expectOutcomes(one: Case, visitors: typeof browsers): Promise<void> {
  const query = queryOf(one);
  const [ours, theirs] = [await gatehouse.outcome(query, visitors.gatehouse), await peer.outcome(query, visitors.peer)];
  expect({ gatehouse: ours, peer: theirs }).toEqual({ gatehouse: one.outcome, peer: one.peer?.[0] ?? one.outcome });
}

describe('R-18 an authorization request at Gatehouse and at oidc-provider, where nobody is signed in', () => {
  test.each(NOBODY)('$title', (one) => expectOutcomes(one, { gatehouse: new Browser(), peer: new Browser() }));
});

describe('R-18 an authorization request at Gatehouse and at oidc-provider, where Ada is signed in', () => {
  test.each(SIGNED_IN)('$title', (one) => expectOutcomes(one, browsers));
});
