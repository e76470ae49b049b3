import { z } from 'zod';
import { count, countBetween, duration, path, section } from './fields.ts';
import { redirectURIFault } from './redirect-uri.ts';
import { tokenReview } from './token-review-section.ts';

const MINUTE_MS = 60_000;
/** A new key is published 15 minutes before it signs: below an hour there would be little else. */
const HOUR_MS = 60 * MINUTE_MS;

/** RFC 8414 section 2 wants https; plain http is taken with a warning, since an in-cluster address often is (port 80). */
const issuer = z.string().superRefine((text, context) => {
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

const accessTokenLife = () =>
  duration({ minMs: MINUTE_MS, bounds: 'at least 1m: a token cannot live for ever, nor for less than a minute' });

const redirectURI = z.string().superRefine((text, context) => {
  const fault = redirectURIFault(text);
  if (fault) context.addIssue({ code: 'custom', message: fault });
});

const client = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must have no control character and no line break')
      .describe('The client_id.'),
    secret: z.string().min(1).optional().describe('The secret itself; prefer secretFile.'),
    secretFile: path.optional().describe('A file that holds the secret; one trailing newline is ignored.'),
    public: z.boolean().default(false).describe('A client that cannot keep a secret.'),
    grantTypes: z
      .array(z.enum(['password', 'refresh_token']))
      .min(1)
      .default(['password', 'refresh_token']),
    postLogoutRedirectURIs: z
      .array(redirectURI)
      .default([])
      .describe('Where a sign-out may lead, compared exactly: http or https URLs without fragment.'),
    introspectAll: z.boolean().default(false).describe('May introspect the tokens of every client, not only its own.'),
    accessTokenMaxAge: accessTokenLife().optional(),
    accessTokenInactivityTimeout: duration().optional(),
  })
  .superRefine((value, context) => {
    const proofs = [value.secret !== undefined, value.secretFile !== undefined, value.public].filter(Boolean).length;
    if (proofs !== 1)
      context.addIssue({ code: 'custom', message: 'needs exactly one of secret, secretFile, public: true' });
    if (value.public && value.grantTypes.includes('password'))
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

const clients = z
  .array(client)
  .min(1)
  .superRefine((list, context) => {
    const names = list.map((one) => one.name);
    names.forEach((name, index) => {
      if (names.indexOf(name) !== index)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is the name of an earlier client' });
    });
  });

const oauthOptions = section({
  issuer: issuer.optional().describe('Default: http://localhost:<server.port>/oauth.'),
  accessTokenMaxAge: accessTokenLife().prefault('2h'),
  accessTokenInactivityTimeout: duration()
    .prefault('2h')
    .describe('A refresh token lives accessTokenMaxAge plus this, counted anew at each rotation.'),
  accessTokenAudience: z.string().min(1).optional().describe('Default: the issuer.'),
  sessionMaxAge: duration({ minMs: MINUTE_MS, bounds: 'at least 1m' }).prefault('720h'),
  refreshReplayWindow: duration({ maxMs: MINUTE_MS, bounds: 'between 0s and 60s' }).prefault('30s'),
  keyRotationPeriod: z
    .union([z.literal(0), duration({ minMs: HOUR_MS, orZero: true, bounds: '0, or at least 1h' })])
    .prefault('720h')
    .describe('How long a signing key signs; 0: keys are rotated by hand only.'),
  clients: clients.optional().describe('Default: one client whose id and secret are both the platform name.'),
});

const trustedProxy = z.strictObject({
  cidr: z.union([z.cidrv4(), z.cidrv6()], 'expected an address range such as "10.0.0.0/8"'),
  header: z.enum(['X-Forwarded-For', 'X-Real-IP', 'X-Client-IP']).default('X-Forwarded-For'),
});

export const authentication = section({
  oauthOptions,
  maximumClockSkew: duration({ maxMs: 30_000, bounds: 'between 0s and 30s' }).prefault('10s'),
  multipleLogin: z.boolean().default(true).describe('false: a sign-in ends the user’s other sessions.'),
  authenticateRateLimiterMaxTries: count.default(5),
  authenticateRateLimiterDuration: duration({ minMs: 1, bounds: 'longer than 0s' }).prefault('30m'),
  addressRateLimiterMaxTries: count.default(30),
  addressRateLimiterDuration: duration({ minMs: 1, bounds: 'longer than 0s' }).prefault('1m'),
  clientRateLimiterMaxTries: count
    .default(10)
    .describe('Failures of one client name from one address; then 429, whatever the secret.'),
  clientAddressRateLimiterMaxTries: count
    .default(60)
    .describe('Failures from one address over all client names that have not succeeded there in the last day.'),
  clientRateLimiterDuration: duration({ minMs: 1, bounds: 'longer than 0s' }).prefault('1m'),
  passwordGate: section({
    concurrency: countBetween(1, 16).default(2).describe('Password compares at once.'),
    queue: countBetween(0, 10_000).default(16),
    maxWait: duration().prefault('2s'),
  }),
  passwordHash: section({
    cost: countBetween(10, 14).default(10).describe('bcrypt cost of new hashes.'),
    maxCost: countBetween(10, 14).default(12).describe('Highest bcrypt cost that is accepted.'),
  }),
  trustedProxies: z.array(trustedProxy).default([]),
  tokenReview,
  serviceAccountTokens: section({
    enabled: z
      .boolean()
      .default(false)
      .describe('true: a service account of the cluster may call with its projected token, checked by TokenReview.'),
    audience: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe(
        'The audience that such a token was made for. Default: that of access tokens. Not the API server’s own.',
      ),
  }),
});
