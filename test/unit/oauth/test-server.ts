import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { AgingCopy, LastProof } from '../../../src/data-age.ts';
import type { AuthorizationServer, FormRequest, TokenResponse } from '../../../src/oauth/authorization-server.ts';
import { createAuthorizationServer } from '../../../src/oauth/create-authorization-server.ts';
import { createDeviceRecords, type StoredRecords } from '../../../src/oauth/device/device-records.ts';
import { createMemoryRecords } from '../../../src/oauth/device/memory-records.ts';
import { newKeyData } from '../../../src/oauth/keys/signing-key-data.ts';
import { createSigningKeys, type SigningKeyOptions, type SigningKeys } from '../../../src/oauth/keys/signing-keys.ts';
import { createClientFailureCounter, createVerificationCounter } from '../../../src/oauth/metrics.ts';
import { OAuthError } from '../../../src/oauth/oauth-error.ts';
import type { Client, OAuthOptions } from '../../../src/oauth/options.ts';
import { createMemorySessions } from '../../../src/oauth/sessions/memory-sessions.ts';
import type { SessionChange, SessionStore, UserSessions } from '../../../src/oauth/sessions/sessions.ts';
import { createTokenData, type TokenData } from '../../../src/oauth/token-data.ts';
import { type AccessTokens, createTokenVerifier } from '../../../src/oauth/tokens/token-verifier.ts';
import { createLiveUsers, createUserStandings, type UserStandings } from '../../../src/oauth/tokens/user-standing.ts';
import { createAuditLines, createSecurityEvents } from '../../../src/observability/security-events.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import type { SecurityEvents } from '../../../src/security-events.ts';
import type { FirstPasswords } from '../../../src/users/first-passwords.ts';
import type { SignInAttempt, SignInResult } from '../../../src/users/sign-in.ts';
import type { User } from '../../../src/users/user.ts';
import { ALWAYS_CURRENT } from '../../support/always-current.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/waiting.ts';
import { MemorySecrets } from './memory-secrets.ts';

export const KEYS_SECRET = 'gatehouse-signing-keys';

/** Every 30 days, and for the lives of tokens below. */
export const keyOptions: SigningKeyOptions = {
  secretName: KEYS_SECRET,
  maxStalenessMs: 600_000,
  rotation: { periodMs: 720 * 3_600_000, tokenLifeMs: 14_410_000 },
};

/** One RSA key for all the tests of a file: making one takes a tenth of a second. */
export const keyData = newKeyData(Date.parse('2026-03-09T09:00:00Z'), systemRandom);

export const testOptions: OAuthOptions = {
  platform: 'gatehouse',
  issuer: 'https://gatehouse.example.com/oauth',
  accessTokenMaxAgeSeconds: 7200,
  accessTokenInactivityTimeoutSeconds: 7200,
  sessionMaxAgeSeconds: 30 * 86_400,
  browserSessionMaxAgeSeconds: 12 * 3600,
  browserSessionIdleSeconds: 2 * 3600,
  refreshReplayWindowSeconds: 30,
  maximumClockSkewSeconds: 10,
  multipleLogin: true,
  maxBearerBytes: 8192,
  clientThrottle: { client: { limit: 10, windowMs: 60_000 }, address: { limit: 60, windowMs: 60_000 } },
  clients: [
    {
      name: 'console',
      secret: 'made-up-secret',
      public: false,
      grantTypes: ['password', 'refresh_token'],
      redirectURIs: [],
      postLogoutRedirectURIs: ['https://console.example.com/', 'https://console.example.com/bye?from=gatehouse'],
    },
    {
      name: 'other',
      secret: 'p:a%ss +wörd&=1',
      public: false,
      grantTypes: ['password', 'refresh_token'],
      redirectURIs: [],
      postLogoutRedirectURIs: [],
    },
    {
      name: 'reader',
      secret: 'made-up-other',
      public: false,
      grantTypes: ['refresh_token'],
      redirectURIs: [],
      postLogoutRedirectURIs: [],
    },
    { name: 'app', public: true, grantTypes: ['refresh_token'], redirectURIs: [], postLogoutRedirectURIs: [] },
  ],
};

const alice: User = {
  name: 'alice',
  uid: 'uid-of-alice',
  email: 'alice@example.com',
  passwordHash: `$2b$10$${'a'.repeat(53)}`,
  groups: ['developers', 'system:masters'],
  state: 'Active',
};

/** Clients whose secrets are in the configuration. */
export const configuredSecrets = { secretOf: ({ secret }: Client) => secret, fault: () => undefined, parts: [] };

/** A copy that a test says is not loaded, or sets back. */
const copyOf = (data: string, proof: LastProof, fault: () => string | undefined): AgingCopy => ({
  data,
  proof: {
    get at() {
      return fault() === undefined ? proof.at : Number.NEGATIVE_INFINITY;
    },
  },
  maxAgeMs: keyOptions.maxStalenessMs,
});

/** Makes a proof older than data may be in these tests. */
export const setBack = (proof: { at: number }, clock: FakeClock): void => {
  proof.at = clock.monotonic() - keyOptions.maxStalenessMs - 1;
};

/** Session records in memory whose writes can be made to fail, and are counted. */
class ScriptedSessions implements SessionStore {
  readonly #inner: SessionStore;
  /** Every write fails with it. */
  writeFault: Error | undefined;
  /** Why the records are not known. */
  unknown: string | undefined;
  readonly proof: { at: number } = { ...ALWAYS_CURRENT };
  writes = 0;
  /** Every session was begun by another process, whose ends nobody knows here. */
  begunElsewhere = false;

  constructor(inner: SessionStore) {
    this.#inner = inner;
  }

  fault = (): string | undefined => this.unknown;

  readonly copies = [copyOf('sessions', this.proof, () => this.unknown)];

  newId = (): string => this.#inner.newId();

  onChange = (changed: (user: string) => void): void => this.#inner.onChange(changed);

  knowsEndsOf = (): boolean => !this.begunElsewhere;

  read = (user: string): UserSessions => this.#inner.read(user);

  update = async <T>(user: string, decide: (current: UserSessions) => SessionChange<T>): Promise<T> => {
    if (this.writeFault) throw this.writeFault;
    return this.#inner.update(user, (current) => {
      const change = decide(current);
      if (change.next) this.writes++;
      return change;
    });
  };
}

export interface TestServer {
  readonly server: AuthorizationServer;
  readonly verifier: AccessTokens;
  readonly keys: SigningKeys;
  readonly secrets: MemorySecrets;
  readonly sessions: ScriptedSessions;
  readonly data: TokenData;
  readonly standing: UserStandings;
  /** Why not every user is known, when a test says so, and when the users were last proved current. */
  readonly missing: { users: string | undefined; readonly proof: { at: number } };
  readonly clock: FakeClock;
  readonly registry: Registry;
  /** Who exists: alice, until a test says otherwise. */
  readonly users: Map<string, User>;
  /** Tells that this user changed, as the directory does. */
  changed(name: string): void;
  /** What the next sign-ins come to; by default the user of that name. */
  signIn: (attempt: SignInAttempt) => SignInResult | Promise<SignInResult>;
  /** What sets first passwords; nothing until a test says otherwise. */
  firstPasswords: FirstPasswords | undefined;
  readonly events: SecurityEvents;
  readonly clientFailures: ReturnType<typeof createClientFailureCounter>;
  /** Lines that were logged. */
  readonly lines: Record<string, unknown>[];
}

/** A whole authorization server with its keys loaded; each test changes one thing. */
export async function newTestServer(
  change: Partial<OAuthOptions> = {},
  records: StoredRecords = createMemoryRecords(),
): Promise<TestServer> {
  const clock = new FakeClock();
  const random = systemRandom;
  const registry = new Registry();
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const events = createSecurityEvents(createAuditLines(logger), registry);
  const secrets = new MemorySecrets();
  secrets.put(KEYS_SECRET, await keyData);
  const keys = createSigningKeys(keyOptions, { secrets, clock, random, logger, registry, events });
  void keys.run(new AbortController().signal);
  await until(() => keys.fault() === undefined);
  const users = new Map([['alice', alice]]);
  const listeners: ((name: string) => void)[] = [];
  const directory = {
    byName: (name: string) => users.get(name),
    byEmail: () => undefined,
    onChange: (listener: (name: string) => void) => listeners.push(listener),
  };
  const changed = (name: string): void => {
    for (const listener of listeners) listener(name);
  };
  const sessions = new ScriptedSessions(createMemorySessions({ clock, random: systemRandom }));
  const options = { ...testOptions, ...change };
  const verifications = createVerificationCounter(registry);
  const missing = { users: undefined as string | undefined, proof: { ...ALWAYS_CURRENT } };
  const people = { fault: () => missing.users, copies: [copyOf('users', missing.proof, () => missing.users)] };
  const data = createTokenData([keys, sessions, people], clock);
  const standing = createUserStandings(keys);
  const liveUser = createLiveUsers(directory, standing, { maximumClockSkewSeconds: 10 });
  const judging = { data, keys, sessions, standing, liveUser, clock, random };
  const verifier = createTokenVerifier(options, { ...judging, verifications });
  const test: Pick<TestServer, 'signIn' | 'firstPasswords'> = {
    firstPasswords: undefined,
    signIn: ({ username }) => {
      const user = users.get(username);
      return user ? { kind: 'ok', user } : { kind: 'refused' };
    },
  };
  const signIn = {
    signIn: async (attempt: SignInAttempt) => test.signIn(attempt),
    userOf: (typed: string) => users.get(typed),
  };
  const clientFailures = createClientFailureCounter(registry);
  const deviceRecords = createDeviceRecords('', { records, keys, clock, random, logger });
  const parts = {
    ...judging,
    verifications,
    users: directory,
    signIn,
    verifier,
    logger,
    registry,
    events,
    clientFailures,
    clientSecrets: configuredSecrets,
    firstPasswords: () => test.firstPasswords,
    deviceRecords,
  };
  const server = createAuthorizationServer(options, parts);
  return Object.assign(test, {
    server,
    missing,
    data,
    standing,
    verifier,
    keys,
    secrets,
    sessions,
    clock,
    registry,
    events,
    clientFailures,
    users,
    changed,
    lines,
  });
}

/** Waits for work in the thread pool, which has no clock of ours: until the condition holds, at most some ten seconds. */
export async function until(condition: () => boolean): Promise<void> {
  await waitFor(condition, Boolean, { turn: () => sleep(1), looks: 10_000 });
}

export const PASSWORD_FORM = {
  grant_type: 'password',
  client_id: 'console',
  client_secret: 'made-up-secret',
  username: 'alice',
  password: 'Made-up-1',
};

export const refreshForm = (refresh_token: string) => ({
  grant_type: 'refresh_token',
  client_id: 'console',
  client_secret: 'made-up-secret',
  refresh_token,
});

/** Where the requests of the tests come from. */
export const ORIGIN = { source: '192.0.2.1', requestId: 'request-1' };

/** A form POST; `body` may be given as it goes over the wire. */
export function formRequest(
  body: string | Record<string, string>,
  change: Partial<Omit<FormRequest, 'body'>> = {},
): FormRequest {
  return {
    authorization: undefined,
    ...ORIGIN,
    signal: new AbortController().signal,
    ...change,
    body: Buffer.from(typeof body === 'string' ? body : new URLSearchParams(body).toString()),
  };
}

/** What a refused call answers: status, code, description and headers. */
export type SentRefusal = Omit<OAuthError['refusal'], 'ids'>;

export async function refusalOf(call: () => unknown): Promise<SentRefusal> {
  try {
    await call();
  } catch (error) {
    if (error instanceof OAuthError) {
      const { ids: _, ...sent } = error.refusal;
      return sent;
    }
    throw error;
  }
  throw new Error('nothing was refused');
}

export const signInAlice = ({ server }: TestServer, more: Record<string, string> = {}): Promise<TokenResponse> =>
  server.token(formRequest({ ...PASSWORD_FORM, ...more }));

export const refresh = ({ server }: TestServer, token: string): Promise<TokenResponse> =>
  server.token(formRequest(refreshForm(token)));

export const partsOf = (token: string): [Record<string, unknown>, Record<string, unknown>] =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString())) as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
