import { z } from 'zod';
import { duration, objectName, path } from './fields.ts';

/**
 * The characters that RFC 3986 allows in a URI as it is sent, except `*` and `#`, which have messages of their own.
 */
const AS_SENT = /^[A-Za-z0-9._~:/?[\]@!$&'()+,;=%-]*$/;

/** The authority must be written out: URL parsers read `https:host`, `https:///host` and `https:\\host` the same. */
const WITH_AUTHORITY = /^https?:\/\/([^/?#]+)/i;

/**
 * Why a sign-out may not redirect to this address; `undefined` when it may. The address is sent unchanged in a `Location`, so every
 * program must read it alike. It must be http or https, because `javascript:` would run in the page before it. It has no fragment
 * (RFC 6749 3.1.2), no name or password, and no wildcard.
 */
function redirectURIFault(text: string): string | undefined {
  if (text.includes('*')) return 'must be one address: wildcards are not allowed';
  if (text.includes('#')) return 'must have no fragment';
  if (!AS_SENT.test(text))
    return 'must be written as it is sent: no blank, backslash or control character, others percent-encoded';
  if (/%(?![0-9a-f]{2})/i.test(text)) return 'must have two hexadecimal digits after each "%"';
  const [, authority] = WITH_AUTHORITY.exec(text) ?? [];
  if (authority === undefined || !URL.canParse(text))
    return 'expected an absolute http or https URL, such as "https://console.example.com/"';
  return authority.includes('@') ? 'must not carry credentials' : undefined;
}

const MINUTE_MS = 60_000;

export const accessTokenLife = () =>
  duration({ minMs: MINUTE_MS, bounds: 'at least 1m: a token cannot live for ever, nor for less than a minute' });

const redirectURI = z
  .string()
  .meta({
    'x-limits': 'an absolute http or https URL, written as it is sent, without credentials, wildcard and fragment',
  })
  .superRefine((text, context) => {
    const fault = redirectURIFault(text);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  });

/** The hosts of a native app's own listener (RFC 8252 7.3), where http is as good as https. */
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?:[:/?]|$)/;

/** A scheme of a native app: a domain name in reverse order (RFC 8252 7.1), so it has a dot. */
const PRIVATE_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\/?[^/]/;

/** What is wrong with the address that a code is sent to; `undefined` when it is fine (B-03). */
function signInRedirectFault(text: string): string | undefined {
  if (text === '*') return undefined; // KubeSphere 3.4's: it loads with a warning
  if (PRIVATE_SCHEME.test(text))
    return /[*#]/.test(text) || !AS_SENT.test(text) ? 'must have no wildcard, fragment or blank' : undefined;
  const fault = redirectURIFault(text);
  if (fault !== undefined) return fault;
  const isSecure = text.startsWith('https://') || LOOPBACK.test(text);
  return isSecure ? undefined : 'must be https, or http on 127.0.0.1, [::1] or localhost';
}

const signInRedirect = z
  .string()
  .meta({
    'x-limits':
      'an https URL, an http URL on 127.0.0.1, [::1] or localhost, or an address of a scheme with a dot, written as it is sent',
  })
  .superRefine((text, context) => {
    const fault = signInRedirectFault(text);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  });

const client = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must have no control character and no line break')
      .meta({
        'x-limits':
          '1 to 255 characters, none of them a control character or a line break; no two clients have one name',
      })
      .describe('The client_id.'),
    secret: z.string().min(1).optional().describe('The secret itself; prefer `secretFile`.'),
    secretFile: path.optional().describe('A file that holds the secret; one trailing newline is ignored.'),
    secretName: objectName
      .optional()
      .describe(
        'A Secret in Gatehouse’s namespace whose key `secret` holds the secret. The program creates it with a random value if there is none, and follows its changes.',
      ),
    public: z
      .boolean()
      .default(false)
      .describe('A client that cannot keep a secret: it may not use the password grant nor introspect tokens.'),
    grantTypes: z
      .array(
        z.enum(['authorization_code', 'password', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code']),
      )
      .min(1)
      .optional()
      .describe(
        'The grants that the client may use at `POST /oauth/token`. With the last one a device without a browser shows a code, which a person enters on a page (RFC 8628); no client has it by default. Default: `password` (not a public client with redirectURIs), `refresh_token`, and `authorization_code` with redirectURIs.',
      ),
    redirectURIs: z
      .array(signInRedirect)
      .default([])
      .describe(
        'Where a browser may be sent with a code after a sign-in, compared byte by byte; for http on a loopback host the port may differ. Without any, the client has no sign-in by browser.',
      ),
    grantMethod: z
      .enum(['auto', 'prompt', 'deny'])
      .default('auto')
      .describe(
        '`auto`: a person who signs in is sent back to the client. `prompt`: the person is asked first, once in a session of the browser. `deny`: nobody is sent back.',
      ),
    postLogoutRedirectURIs: z
      .array(redirectURI)
      .default([])
      .describe('Where a sign-out may redirect to, compared exactly.'),
    introspectAll: z
      .boolean()
      .default(false)
      .describe('Whether the client may introspect the tokens of every client, not only its own.'),
    accessTokenMaxAge: accessTokenLife()
      .optional()
      .describe('Lifetime of this client’s access tokens. Default: that of all clients.'),
    accessTokenInactivityTimeout: duration()
      .optional()
      .describe('`accessTokenInactivityTimeout` for this client. Default: that of all clients.'),
    idTokenMaxAge: accessTokenLife()
      .optional()
      .describe(
        'Lifetime of this client’s ID tokens. 15m is enough where a cluster verifies them itself: it never asks whether a session has ended. Default: that of its access tokens.',
      ),
  })
  .superRefine((value, context) => {
    const { secret, secretFile, secretName } = value;
    const proofs = [secret, secretFile, secretName, value.public || undefined].filter(
      (one) => one !== undefined,
    ).length;
    if (proofs !== 1)
      context.addIssue({
        code: 'custom',
        message: 'needs exactly one of secret, secretFile, secretName, public: true',
      });
    if (value.grantTypes?.includes('authorization_code') && value.redirectURIs.every((uri) => uri === '*'))
      context.addIssue({
        code: 'custom',
        path: ['grantTypes'],
        message: 'authorization_code needs redirectURIs',
      });
    const isPasswordClient = value.grantTypes?.includes('password') ?? value.redirectURIs.every((uri) => uri === '*');
    if (value.public && isPasswordClient)
      context.addIssue({
        code: 'custom',
        path: ['grantTypes'],
        message: 'a public client may not use the password grant',
      });
    if (value.public && value.introspectAll)
      context.addIssue({
        code: 'custom',
        path: ['introspectAll'],
        message: 'a public client may not introspect tokens',
      });
  });

export const clients = z
  .array(client)
  .min(1)
  .superRefine((list, context) => {
    const names = list.map((one) => one.name);
    names.forEach((name, index) => {
      if (names.indexOf(name) !== index)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is the name of an earlier client' });
    });
  });
