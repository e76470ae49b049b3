import { z } from 'zod';
import { accessTokenLife, clients } from './client-section.ts';
import { count, countBetween, duration, path, section, textLike } from './fields.ts';

const tokenReview = section({
  callerAuth: z
    .enum(['required', 'none'])
    .default('required')
    .describe(
      'Who may call `POST /oauth/authenticate`. `required`: callers with the bearer or a client certificate named below; nobody if neither is set. `none`: everybody, as in KubeSphere 3.4.',
    ),
  callerTokenFile: path
    .optional()
    .describe('A file that holds the bearer of callers; read again when it changes. Blanks around it are ignored.'),
  clientCAFile: path
    .optional()
    .describe(
      'Certificates (PEM) of the authorities whose client certificates are accepted from callers. Needs `server.tls` and `clientNames`.',
    ),
  clientNames: z
    .array(z.string().min(1, 'expected a name'))
    .min(1, 'expected at least one name')
    .optional()
    .describe(
      'The certificate holders that may call it: the common name, a DNS name or a URI of the client certificate, compared exactly. Needed with `clientCAFile`.',
    ),
});

const MINUTE_MS = 60_000;
/**
 * A new key is published 15 minutes before it signs. With a period below an hour, a rotation would be in progress for
 * much of the time.
 */
const HOUR_MS = 60 * MINUTE_MS;

/**
 * RFC 8414 section 2 requires https. Plain http is accepted with a warning, because addresses inside a cluster often
 * use it (port 80).
 */
const issuer = z
  .string()
  .meta({ 'x-limits': 'an absolute http or https URL without credentials, query, fragment and slash at its end' })
  .superRefine((text, context) => {
    const fault = issuerFault(text);
    if (fault) context.addIssue({ code: 'custom', message: fault });
  });

function issuerFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'expected an absolute URL, such as "https://gatehouse.example.com/oauth"';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'expected an http or https URL';
  if (url.username || url.password) return 'must not carry credentials';
  if (text.includes('?') || text.includes('#')) return 'must have no query and no fragment';
  return text.endsWith('/') ? 'must not end in a slash' : undefined;
}

const oauthOptions = section({
  issuer: issuer
    .optional()
    .describe(
      'The issuer in tokens: the address at which clients reach /oauth. Default: `http://localhost:<server.port>/oauth`.',
    ),
  accessTokenMaxAge: accessTokenLife().prefault('2h').describe('Lifetime of an access token.'),
  accessTokenInactivityTimeout: duration()
    .prefault('2h')
    .describe('A refresh token lives for `accessTokenMaxAge` plus this, counted again from each rotation.'),
  accessTokenAudience: z.string().min(1).optional().describe('The `aud` claim of access tokens. Default: the issuer.'),
  sessionMaxAge: duration({ minMs: MINUTE_MS, bounds: 'at least 1m' })
    .prefault('720h')
    .describe('The longest time after a sign-in at which a token of its session expires.'),
  browserSessionMaxAge: duration({ minMs: MINUTE_MS, bounds: 'at least 1m' })
    .prefault('12h')
    .describe(
      'How long after a password a browser is signed in: further clients need no password. It must be at least `browserSessionIdle`.',
    ),
  browserSessionIdle: duration({ minMs: MINUTE_MS, bounds: 'at least 1m' })
    .prefault('2h')
    .describe('A browser is no longer signed in when no client has sent it to `/oauth/authorize` for this long.'),
  emailFallbackDomain: textLike(
    /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
    'a domain such as "users.example.com"',
  )
    .max(180)
    .optional()
    .describe(
      'A user without an e-mail address gets `<name>@<domain>` in ID tokens and userinfo, without `email_verified`: for clients that refuse users without an address. Default: no address.',
    ),
  refreshReplayWindow: duration({ maxMs: MINUTE_MS, bounds: 'between 0s and 60s' })
    .prefault('30s')
    .describe('How long after its use a refresh token still returns the same pair of tokens.'),
  keyRotationPeriod: duration({ minMs: HOUR_MS, orZero: true, bounds: '0, or at least 1h' })
    .prefault('720h')
    .describe(
      'How long a signing key signs; 0: keys are rotated by hand only. At least a 100th of the longest life of a refresh token.',
    ),
  clients: clients
    .optional()
    .describe(
      'OAuth clients, each with exactly one of `secret`, `secretFile`, `secretName` and `public: true`. With the platform `kubesphere` the default has the secret `kubesphere`, as clients of 3.4 expect. Default: a public one with the name of the platform.',
    ),
}).describe('Tokens and the clients that receive them.');

const RANGE = 'an address range such as "10.0.0.0/8"';
const addressRange = z
  .union([z.cidrv4(`expected ${RANGE}`), z.cidrv6(`expected ${RANGE}`)])
  .meta({ 'x-limits': RANGE });
const HEADER = 'X-Forwarded-For';

const trustedProxy = z.union([
  addressRange.transform((cidr) => ({ cidr, header: HEADER }) as const),
  z.strictObject(
    {
      cidr: addressRange.describe('The addresses of the proxy.'),
      header: z
        .enum([HEADER, 'X-Real-IP', 'X-Client-IP'])
        .default(HEADER)
        .describe('The header in which the proxy sends the caller’s address.'),
    },
    { error: ({ code }) => (code === 'invalid_type' ? `expected ${RANGE}, or a map with cidr and header` : undefined) },
  ),
]);

/** The time window in which failures count. */
const window = (usual: string) => duration({ minMs: 1, bounds: 'longer than 0s' }).prefault(usual);

export const authentication = section({
  oauthOptions,
  maximumClockSkew: duration({ maxMs: 30_000, bounds: 'between 0s and 30s' })
    .prefault('10s')
    .describe('The difference between clocks that is accepted when tokens are verified.'),
  multipleLogin: z.boolean().default(true).describe('`false`: a sign-in ends the user’s other sessions.'),
  authenticateRateLimiterMaxTries: count
    .default(5)
    .describe('Failed sign-ins of one user within `authenticateRateLimiterDuration`; then 429.'),
  authenticateRateLimiterDuration: window('30m').describe('The time in which failed sign-ins of one user count.'),
  addressRateLimiterMaxTries: count
    .default(30)
    .describe('Failed sign-ins from one address within `addressRateLimiterDuration`; then 429.'),
  addressRateLimiterDuration: window('1m').describe('The time in which failed sign-ins from one address count.'),
  clientRateLimiterMaxTries: count
    .default(10)
    .describe(
      'Failures of one OAuth client name from one address within `clientRateLimiterDuration`; then 429, whatever the secret.',
    ),
  clientAddressRateLimiterMaxTries: count
    .default(60)
    .describe(
      'Failures from one address within `clientRateLimiterDuration`, over all client names that did not succeed at this address in the last day; then 429.',
    ),
  clientRateLimiterDuration: window('1m').describe('The time in which failures of clients count.'),
  passwordGate: section({
    concurrency: countBetween(1, 16).default(2).describe('Password comparisons that run at the same time.'),
    queue: countBetween(0, 10_000).default(16).describe('Sign-ins that may wait for a comparison; above: 429.'),
    maxWait: duration().prefault('2s').describe('How long a sign-in may wait for its comparison; then 429.'),
  }),
  passwordHash: section({
    cost: countBetween(10, 14).default(10).describe('bcrypt cost of new hashes, not above `maxCost`.'),
    maxCost: countBetween(10, 14).default(12).describe('Highest bcrypt cost that is accepted.'),
  }),
  loginHistoryRetentionPeriod: duration({ minMs: 60_000, bounds: 'at least 1m' })
    .prefault('168h')
    .describe('How long login records are kept.'),
  loginHistoryMaximumEntries: countBetween(1, 10_000).default(100).describe('The most login records of one user.'),
  trustedProxies: z
    .array(trustedProxy)
    .prefault([])
    .describe(
      'Proxies whose headers are trusted for the caller’s address; all other callers’ headers are ignored. For example `[10.0.0.0/8]`, or `[{cidr: 10.0.0.0/8, header: X-Real-IP}]`.',
    ),
  tokenReview,
  serviceAccountTokens: section({
    enabled: z
      .boolean()
      .default(false)
      .describe('`true`: a service account of the cluster may call with its projected token, checked by TokenReview.'),
    audience: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe(
        'The audience that such a token must be made for; not the API server’s own. Default: that of access tokens.',
      ),
  }),
}).describe('How callers authenticate. Settings that KubeSphere 3.4 has, too, have the same names.');
