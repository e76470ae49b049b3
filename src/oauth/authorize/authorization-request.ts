import { MOST_PARAMETERS, parseParameters } from '../endpoints/form.ts';
import { knownScope } from '../endpoints/grant.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Client, OAuthOptions } from '../options.ts';
import type { PageFault } from './browser-answer.ts';
import { isRegistered } from './redirect-uris.ts';
import { readLocales } from './ui-locales.ts';

/** How the result gets to the client: in the query of a redirect, or in a form that the browser posts. */
const RESPONSE_MODES = ['query', 'form_post'] as const;

type ResponseMode = (typeof RESPONSE_MODES)[number];

/** Where the browser goes with a result, good or bad. */
export interface Return {
  readonly redirectURI: string;
  readonly responseMode: ResponseMode;
  readonly state?: string;
}

/** An authorization request whose client, redirect address and parameters were checked (RFC 6749 4.1.1, OpenID Connect Core 3.1.2.1). */
export interface AuthorizationRequest extends Return {
  readonly clientId: string;
  /** Whether the request named its redirect address, which the token request then must repeat (RFC 6749 4.1.3). */
  readonly isRedirectNamed: boolean;
  /** The known words that were requested; absent if there are none. */
  readonly scope?: string;
  readonly nonce?: string;
  /** The challenge of PKCE; its method is S256 (RFC 7636 4.2). */
  readonly codeChallenge?: string;
}

/** Which page the person gets, and what it shows. */
export interface Prompting {
  /** Whether the client wants an error instead of a page (`prompt=none`). */
  readonly isSilent: boolean;
  /** Whether the password is asked for although somebody is signed in (`prompt=login`). */
  readonly wantsPassword: boolean;
  /** Whether the person chooses the account anew (`prompt=select_account`). */
  readonly wantsAccount: boolean;
  /** Whether the person has to agree again (`prompt=consent`). */
  readonly wantsConsent: boolean;
  /** If the password was entered longer ago than this, it is asked for again. Seconds. */
  readonly maxAgeSeconds?: number;
  /** An ID token, as it was sent: the client expects its user. */
  readonly idTokenHint?: string;
  /** The name to begin with. */
  readonly loginHint?: string;
  /** The languages that the client prefers, in their order. */
  readonly locales: readonly string[];
}

/** The error codes of RFC 6749 4.1.2.1 and OpenID Connect Core 3.1.2.6 that a client gets. */
type AuthorizationErrorCode =
  | 'invalid_request'
  | 'unsupported_response_type'
  | 'unauthorized_client'
  | 'access_denied'
  | 'login_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'
  | 'server_error'
  | 'temporarily_unavailable';

export interface AuthorizationError {
  readonly code: AuthorizationErrorCode;
  readonly description: string;
}

export type CheckedRequest =
  | {
      readonly kind: 'ok';
      readonly request: AuthorizationRequest;
      readonly prompting: Prompting;
      readonly client: Client;
    }
  | { readonly kind: 'error'; readonly error: AuthorizationError; readonly to: Return }
  | { readonly kind: 'page'; readonly fault: PageFault };

/** UTF-8 bytes. A state has to fit into the address of the redirect, and both into the sealed request (B-14). */
const LONGEST_STATE = 2048;
const LONGEST_NONCE = 512;
/** Longer hints are no names and no addresses of users. */
const LONGEST_HINT = 512;

/** Base64url of a SHA-256 (RFC 7636 4.2). */
const CHALLENGE = /^[\w-]{43}$/;

/** The words of `prompt` (OpenID Connect Core 3.1.2.1). */
const PROMPTS: readonly string[] = ['none', 'login', 'consent', 'select_account'];

/** What an authorization request may ask for (OpenID Connect Discovery 3, RFC 9207 3; ID-08). */
export const REQUEST_METADATA = {
  response_types_supported: ['code'],
  response_modes_supported: RESPONSE_MODES,
  code_challenge_methods_supported: ['S256'],
  prompt_values_supported: PROMPTS,
  authorization_response_iss_parameter_supported: true,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
  claims_parameter_supported: false,
};

/** Parameters of extensions that are refused (OpenID Connect Core 6, OpenID Connect Registration), with the code for it (B-10). */
const NOT_SUPPORTED = ['request', 'request_uri', 'registration'] as const;

/**
 * Checks an authorization request in the order of docs/contract/signin.md. Client and redirect address come first: until they are
 * known to be good, nothing is sent to the address (RFC 9700 4.11).
 */
export function checkAuthorizationRequest(query: string, options: Pick<OAuthOptions, 'clients'>): CheckedRequest {
  const read = readQuery(query);
  if ('fault' in read) return { kind: 'page', fault: read.fault };
  const { values, repeated } = read;
  if (repeated.has('client_id') || repeated.has('redirect_uri')) return { kind: 'page', fault: 'ambiguous' };
  const client = options.clients.find(({ name }) => name === values.get('client_id'));
  if (!client || client.redirectURIs.length === 0) return { kind: 'page', fault: 'unknown_client' };
  const redirectURI = redirectOf(values, client);
  if (redirectURI === undefined) return { kind: 'page', fault: 'unknown_redirect' };
  const state = values.get('state');
  const isStateGood = state !== undefined && !repeated.has('state') && lengthOf(state) <= LONGEST_STATE;
  const mode = values.get('response_mode') ?? 'query';
  const to: Return = {
    redirectURI,
    responseMode: isResponseMode(mode) ? mode : 'query',
    ...(isStateGood ? { state } : {}),
  };
  const error = faultOf(values, { repeated, client });
  return error ? { kind: 'error', error, to } : { kind: 'ok', client, ...toRequest(values, client, to) };
}

type Values = ReadonlyMap<string, string>;

interface Query {
  /** Without empty ones, which count as omitted (RFC 6749 3.1). */
  readonly values: Values;
  /** The names of parameters that were given more than once. */
  readonly repeated: ReadonlySet<string>;
}

/** Reads the first value of each parameter, so that an error about a repeated one can still be sent to the client. */
function readQuery(query: string): Query | { readonly fault: 'malformed' } {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  const pairs = query.split('&');
  if (pairs.length > MOST_PARAMETERS) return { fault: 'malformed' };
  try {
    for (const pair of pairs) {
      for (const [name, value] of parseParameters(pair)) {
        if (values.has(name)) repeated.add(name);
        else values.set(name, value);
      }
    }
  } catch (error) {
    if (error instanceof OAuthError) return { fault: 'malformed' };
    throw error;
  }
  return { values: new Map([...values].filter(([, value]) => value !== '')), repeated };
}

/** The redirect address; `undefined` if it is not registered, or missing where it has to be named (B-03). */
function redirectOf(values: Values, { redirectURIs }: Client): string | undefined {
  const given = values.get('redirect_uri');
  if (given !== undefined) return isRegistered(redirectURIs, given) ? given : undefined;
  const isOpenId = scopeWords(values).includes('openid');
  return redirectURIs.length === 1 && !isOpenId ? redirectURIs[0] : undefined;
}

/** What is wrong with the parameters of a known client; the first fault in the order of the contract (B-04 to B-14). */
function faultOf(
  values: Values,
  { repeated, client }: { readonly repeated: ReadonlySet<string>; readonly client: Client },
): AuthorizationError | undefined {
  if (repeated.size > 0) return invalid('a parameter is given more than once');
  const type = values.get('response_type');
  if (type === undefined) return invalid('the parameter response_type is missing');
  if (type !== 'code') return { code: 'unsupported_response_type', description: 'the response type is not supported' };
  if (!client.grantTypes.includes('authorization_code'))
    return { code: 'unauthorized_client', description: 'the client may not use this grant type' };
  const refused = NOT_SUPPORTED.find((name) => values.has(name));
  if (refused) return { code: `${refused}_not_supported`, description: `the parameter ${refused} is not supported` };
  return modeFault(values) ?? challengeFault(values, client) ?? promptFault(values) ?? lengthFault(values);
}

const invalid = (description: string): AuthorizationError => ({ code: 'invalid_request', description });

const modeFault = (values: Values): AuthorizationError | undefined =>
  isResponseMode(values.get('response_mode') ?? 'query') ? undefined : invalid('the response mode is not supported');

/** A public client has to prove by PKCE that it began the request (RFC 9700 2.1.1); `plain` proves nothing (B-06, B-07). */
function challengeFault(values: Values, client: Client): AuthorizationError | undefined {
  const [challenge, method] = [values.get('code_challenge'), values.get('code_challenge_method')];
  if (challenge === undefined && method !== undefined) return invalid('the parameter code_challenge is missing');
  if (challenge === undefined) return client.public ? invalid('a public client must send a code_challenge') : undefined;
  if (method !== 'S256') return invalid('the code_challenge_method must be S256');
  return CHALLENGE.test(challenge) ? undefined : invalid('the code_challenge is not a SHA-256 in base64url');
}

function promptFault(values: Values): AuthorizationError | undefined {
  const words = promptWords(values);
  if (words.some((word) => !PROMPTS.includes(word))) return invalid('the parameter prompt has an unknown word');
  if (words.includes('none') && words.length > 1) return invalid('the word none of prompt stands alone');
  const maxAge = values.get('max_age');
  return maxAge === undefined || /^\d{1,10}$/.test(maxAge)
    ? undefined
    : invalid('the parameter max_age is not a whole number of seconds');
}

const promptWords = (values: Values): readonly string[] =>
  (values.get('prompt') ?? '').split(' ').filter((word) => word !== '');

function lengthFault(values: Values): AuthorizationError | undefined {
  // RFC 6749 appendix A.5 allows printable ASCII in a state. Others are accepted, but control characters, which JSON would make six
  // times as long, are in no state and no nonce.
  if (/\p{Cc}/u.test(`${values.get('state')}${values.get('nonce')}`))
    return invalid('state or nonce has a control character');
  if (lengthOf(values.get('state')) > LONGEST_STATE) return invalid('the parameter state is longer than 2048 bytes');
  return lengthOf(values.get('nonce')) > LONGEST_NONCE
    ? invalid('the parameter nonce is longer than 512 bytes')
    : undefined;
}

function toRequest(
  values: Values,
  client: Client,
  to: Return,
): { readonly request: AuthorizationRequest; readonly prompting: Prompting } {
  const scope = knownScope(values.get('scope'));
  const nonce = values.get('nonce');
  const codeChallenge = values.get('code_challenge');
  return {
    request: {
      ...to,
      clientId: client.name,
      isRedirectNamed: values.has('redirect_uri'),
      ...(scope === undefined ? {} : { scope }),
      ...(nonce === undefined ? {} : { nonce }),
      ...(codeChallenge === undefined ? {} : { codeChallenge }),
    },
    prompting: toPrompting(values),
  };
}

function toPrompting(values: Values): Prompting {
  const words = promptWords(values);
  const loginHint = values.get('login_hint')?.slice(0, LONGEST_HINT);
  const idTokenHint = values.get('id_token_hint');
  const maxAge = values.get('max_age');
  return {
    isSilent: words.includes('none'),
    wantsPassword: words.includes('login'),
    wantsAccount: words.includes('select_account'),
    wantsConsent: words.includes('consent'),
    ...(maxAge === undefined ? {} : { maxAgeSeconds: Number(maxAge) }),
    ...(loginHint === undefined ? {} : { loginHint }),
    ...(idTokenHint === undefined ? {} : { idTokenHint }),
    locales: readLocales(values.get('ui_locales')),
  };
}

const scopeWords = (values: Values): readonly string[] => (values.get('scope') ?? '').split(' ');

const lengthOf = (text = ''): number => Buffer.byteLength(text);

const isResponseMode = (word: string): word is ResponseMode => (RESPONSE_MODES as readonly string[]).includes(word);
