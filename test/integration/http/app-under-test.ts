import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { AnswerWriter } from '../../../src/http/answer/answer.ts';
import { type AppParts, createApp } from '../../../src/http/app.ts';
import type { App } from '../../../src/http/chain/chain.ts';
import { createHttpServer } from '../../../src/http/connection/server.ts';
import { documentFamily } from '../../../src/http/documents/document-routes.ts';
import type { RouteFamily } from '../../../src/http/family.ts';
import { gatewayFamily, type ServedGateway } from '../../../src/http/gateway/gateway-family.ts';
import type { HealthChecks } from '../../../src/http/health.ts';
import type { ServedKinds } from '../../../src/http/kinds/kind-routes.ts';
import { listFamily, type ServedList } from '../../../src/http/kinds/list-family.ts';
import { type ServedSearch, searchRoute } from '../../../src/http/kinds/search-route.ts';
import { createHttpMetrics } from '../../../src/http/metrics.ts';
import { monitoringFamily } from '../../../src/http/monitoring/monitoring-family.ts';
import { pageFamily } from '../../../src/http/page/page-family.ts';
import { aboutFamily } from '../../../src/http/routes/about.ts';
import { accountFamily, type ServedAccounts } from '../../../src/http/routes/accounts.ts';
import type { Descriptions, ReleaseInfo } from '../../../src/http/routes/discovery.ts';
import type { ListableKinds } from '../../../src/http/routes/kind-discovery.ts';
import { oauthFamily } from '../../../src/http/routes/oauth.ts';
import { tokenReviewFamily } from '../../../src/http/routes/token-review.ts';
import type { ServedTenant } from '../../../src/http/tenant/served-tenant.ts';
import { tenantFamily } from '../../../src/http/tenant/tenant-family.ts';
import type { MetricReader } from '../../../src/monitoring/metric-reader.ts';
import { createNamespaceKind } from '../../../src/namespaces/namespace-kind.ts';
import { createNodeKind } from '../../../src/nodes/node-kind.ts';
import type { AuthorizationServer } from '../../../src/oauth/authorization-server.ts';
import { callerAuthenticationFailed } from '../../../src/oauth/endpoints/refusals.ts';
import type { TokenReviewWebhook } from '../../../src/oauth/endpoints/token-review.ts';
import { createVerificationCounter } from '../../../src/oauth/metrics.ts';
import type { Identity, TokenVerifier } from '../../../src/oauth/tokens/identity.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import type { Body, Representation } from '../../../src/resources/bytes/representation.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { defaultLimits } from '../../support/default-limits.ts';
import { madeUpPage } from '../../support/made-up-page.ts';
import { type Waiting, waitFor } from '../../support/waiting.ts';
import { accountsUnderTest } from './accounts-under-test.ts';
import { searchUnderTest } from './search-under-test.ts';
import { tenantUnderTest } from './tenant-under-test.ts';

/** One answer of the cache, of a fixed text. */
export function representationOf(text: string, tag = 'e1-1'): Representation {
  const plain = Buffer.from(text);
  const half = Math.floor(plain.length / 2);
  const bodies = { identity: [plain.subarray(0, half), plain.subarray(half)], gzip: [gzipSync(plain)] };
  const bodyOf = (pieces: readonly Buffer[]): Body => ({
    pieces,
    length: pieces.reduce((sum, piece) => sum + piece.byteLength, 0),
  });
  return {
    etag: (coding) => (coding === 'gzip' ? `"${tag}-gzip"` : `"${tag}"`),
    compose: () => undefined,
    body: (coding) => bodyOf(bodies[coding]),
    identityLength: plain.length,
  };
}

const node = (name: string): object => ({
  metadata: { name, selfLink: `/api/v1/nodes/${name}`, uid: `uid-${name}`, resourceVersion: '7', labels: {} },
  spec: { podCIDR: '10.42.1.0/24' },
  status: { capacity: { cpu: '4' } },
});

export const listText = JSON.stringify({
  items: Array.from({ length: 12 }, (_, index) => node(`worker-${index + 1}`)),
  totalItems: 12,
});
const summaryText = JSON.stringify({
  nodes: { total: 12, running: 10, warning: 1, unschedulable: 1 },
  cpu: { allocatable: '48', requests: '12500m', limits: '30' },
  memory: { allocatable: '380Gi', requests: '34Gi', limits: '60Gi' },
  pods: { allocatable: '1320', scheduled: 96 },
});
export const nodeText = JSON.stringify({ kind: 'Node', apiVersion: 'v1', ...node('worker-1') });

const alice: Identity = {
  name: 'alice',
  uid: 'u-1',
  groups: ['developers', 'system:authenticated'],
  clientId: 'console',
  sid: 's-1',
};

/** Knows three bearers: of somebody with every right, of somebody without any, and an expired one. */
export const fakeVerifier: TokenVerifier = {
  verify: (text) => {
    if (text === 'good') return { identity: alice, cached: true };
    if (text === 'powerless') return { identity: { ...alice, name: 'joe', uid: 'u-2' }, cached: false };
    return { fault: text === 'old' ? 'expired' : 'invalid' };
  },
};

const document = (value: object) => ({ body: Buffer.from(JSON.stringify(value)), etag: '"d-1"' });
const keys = document({
  keys: [{ kty: 'RSA', use: 'sig', alg: 'RS256', kid: 'k-1', n: 'AQAB', e: 'AQAB' }],
});
const metadata = document({
  issuer: 'https://gatehouse.example.com/oauth',
  token_endpoint: 'https://gatehouse.example.com/oauth/token',
  jwks_uri: 'https://gatehouse.example.com/oauth/keys',
  end_session_endpoint: 'https://gatehouse.example.com/oauth/logout',
  grant_types_supported: ['password', 'refresh_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  scopes_supported: ['openid', 'profile', 'email', 'groups', 'offline_access'],
});

export const fakeAuthorizationServer: AuthorizationServer = {
  checkFormHead: () => {},
  token: async () => ({ access_token: 'aaa', token_type: 'Bearer', refresh_token: 'rrr', expires_in: 7200 }),
  revoke: async () => {},
  introspect: async () => ({ active: false }),
  userinfo: () => ({ sub: 'alice', name: 'alice', preferred_username: 'alice' }),
  browser: {
    authorize: async () => ({
      ...{ kind: 'sign-in', request: 'sealed', clientId: 'web', username: '', locales: [] },
      redirectURI: 'https://app.example.com/callback',
    }),
    visit: async () => ({ kind: 'sign-in', request: 'sealed', username: '', locales: [] }),
    signIn: async () => ({ kind: 'redirect', location: 'https://app.example.com/callback?code=c' }),
    newPassword: async () => ({ kind: 'redirect', location: 'https://app.example.com/callback?code=c' }),
    consent: async () => ({ kind: 'redirect', location: 'https://app.example.com/callback?code=c' }),
    endSession: async () => ({ kind: 'signed-out', locales: [] }),
    signOut: async () => ({ kind: 'signed-out', locales: [] }),
  },
  devices: {
    authorizeDevice: async () => ({
      ...{ device_code: 'ddd', user_code: 'WDJB-MJHT', verification_uri: 'https://gatehouse.example.com/oauth/device' },
      verification_uri_complete: 'https://gatehouse.example.com/oauth/device?user_code=WDJB-MJHT&request=sealed',
      ...{ expires_in: 600, interval: 5 },
    }),
    visit: async () => ({
      ...{ kind: 'device-code', request: 'sealed', signedIn: 'alice', userCode: '', locales: [] },
      otherAccount: '/oauth/device?prompt=select_account',
    }),
    code: async () => ({
      ...{ kind: 'device', request: 'sealed', signedIn: 'alice', clientId: 'tv', scopes: ['openid'], locales: [] },
      ...{ userCode: 'WDJB-MJHT', address: '192.0.2.1', minutes: 1 },
      otherAccount: '/oauth/device?prompt=select_account',
    }),
    decide: async () => ({ kind: 'device-done', isAllowed: true, clientId: 'tv', locales: [] }),
  },
  logout: async () => ({}),
  keys: () => keys,
  metadata: () => metadata,
};

/** Lets in whoever shows a bearer, and takes every token for alice's. */
const fakeTokenReviews: TokenReviewWebhook = {
  checkHead: ({ authorization }) => {
    if (!authorization?.startsWith('Bearer ')) throw callerAuthenticationFailed('gatehouse');
    return 'bearer';
  },
  review: () => ({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    status: { authenticated: true, user: { username: 'alice', uid: 'u-1', groups: ['developers'] } },
  }),
};

export interface LogLine extends Record<string, unknown> {
  readonly level: string;
  readonly msg: string;
}

/** The lists of the app, that of nodes with these parts instead of the fakes; the one node is `worker-1`. */
export const listsWith = (nodes: Partial<ServedList>, platform = 'gatehouse'): readonly ServedList[] => {
  const watch = () => ({
    isBehind: false,
    isBeginning: false,
    next: () => undefined,
    bookmark: () => undefined,
    keepAlive: () => undefined,
  });
  const others = { watches: { refresh: () => 1, watch }, age: { staleSeconds: () => undefined } };
  const lister = {
    list: () => representationOf(listText),
    get: (name: string) => (name === 'worker-1' ? representationOf(nodeText) : undefined),
  };
  const empty = { list: () => representationOf('{"items":[],"totalItems":0}'), get: () => undefined };
  return [
    {
      ...others,
      kind: createNodeKind({ platform }),
      lister,
      summary: { read: () => representationOf(summaryText) },
      ...nodes,
    },
    { ...others, kind: createNamespaceKind(platform), lister: empty },
  ];
};

/** The app's parts, and what its families are made of. */
export interface TestParts extends AppParts {
  readonly release: ReleaseInfo;
  clusterVersion(): Readonly<Record<string, unknown>> | undefined;
  readonly authorizationServer: AuthorizationServer;
  readonly tokenReviews: TokenReviewWebhook;
  readonly lists: readonly ServedList[];
  readonly search: ServedSearch;
  readonly accounts?: Omit<ServedAccounts, 'gatewayIsOpen'> | undefined;
  /** Default: no log store. */
  readonly logs?: RouteFamily | undefined;
  readonly gateway?: ServedGateway | undefined;
  readonly tenant: ServedTenant;
  readonly health: HealthChecks;
  readonly descriptions: Descriptions;
  /** Default: no kinds but those of `lists`. */
  readonly metricReader?: Pick<MetricReader, 'answer'> | undefined;
  readonly kinds?: ServedKinds | undefined;
  readonly listableKinds?: ListableKinds | undefined;
}

const pageUnderTest = pageFamily({
  files: madeUpPage,
  version: '0.4.0',
  issuer: 'https://gatehouse.example.com/oauth',
  features: {
    ...{ accounts: true, audit: true, events: true, gateway: true },
    ...{ kinds: true, logs: true, nodeUsage: true, permittedLists: true },
  },
  sessions: { renew: () => undefined, signOut: async () => {} },
});

/** All families that the composition root makes, of these parts. */
function familiesOf(parts: Omit<TestParts, 'families'>): RouteFamily[] {
  const { lists, kinds, authorizationServer, tokenReviews, accounts, gateway, logs, health: checks } = parts;
  const { listableKinds } = parts;
  const gatewayIsOpen = gateway !== undefined;
  return [
    (tools) => ({ routes: [searchRoute({ ...tools, ...parts.search })] }), // before the lists of any kind
    listFamily(lists, () => ({ kinds })),
    ...(listableKinds ? [() => ({ routes: [], listableKinds })] : []),
    oauthFamily(authorizationServer, 'https://gatehouse.example.com/oauth'),
    tokenReviewFamily(tokenReviews),
    ...(accounts ? [accountFamily({ ...accounts, gatewayIsOpen })] : []),
    ...(gateway ? [gatewayFamily(gateway)] : []),
    logs ?? documentFamily({ onAuditRead: () => undefined }),
    monitoringFamily(parts.metricReader),
    tenantFamily(parts.tenant),
    pageUnderTest,
    aboutFamily({ ...parts, checks, gatewayIsOpen }),
  ];
}

/** Literal fakes for everything that the app needs; `change` replaces some. */
export function appParts(change: Partial<TestParts> = {}, lines: LogLine[] = []): TestParts {
  const release = {
    version: '0.4.0',
    gitCommit: 'c'.repeat(40),
    gitTreeState: 'clean',
    buildDate: '2026-11-01T10:00:00Z',
    nodeVersion: 'v26.1.0',
    platform: 'linux/amd64',
  };
  const { registry = new Registry(), clock = systemClock, limits = defaultLimits } = change;
  const parts: Omit<TestParts, 'families'> = {
    platform: 'gatehouse',
    release,
    clusterVersion: () => undefined,
    authorizationServer: fakeAuthorizationServer,
    tokenReviews: fakeTokenReviews,
    verifier: fakeVerifier,
    authorizer: { authorize: (subject) => ({ allowed: subject.name === 'alice', source: 'cache' }) },
    lists: listsWith({}, change.platform),
    search: searchUnderTest(change.platform),
    accounts: accountsUnderTest(change.platform),
    tenant: tenantUnderTest(change.platform),
    metricReader: { answer: async () => ({ answer: { results: [] }, release: () => {} }) },
    maxDecisionAgeMs: 600_000,
    callerChanges: { onChange: () => () => {} },
    closing: new AbortController().signal,
    health: [],
    limits,
    trustedProxies: [],
    corsOrigins: [],
    clock,
    random: systemRandom,
    loopLoad: () => 0,
    logger: createLogger(
      { level: 'debug', format: 'json' },
      { write: (text) => void lines.push(JSON.parse(text) as LogLine) },
    ),
    registry,
    metrics: createHttpMetrics(registry, createVerificationCounter(registry)),
    writer: new AnswerWriter(clock, limits.sendTimeoutMs),
    descriptions: {
      platformYaml: 'openapi: 3.1.0\ninfo:\n  version: 0.0.0\n  title: gatehouse.io\n',
      crdYaml: 'openapi: 3.1.0\ninfo:\n  version: 0.0.0\n  title: iam.gatehouse.io\n',
      parseYaml: parse,
    },
    ...change,
  };
  return { ...parts, families: change.families ?? familiesOf(parts) };
}

export interface AppUnderTest {
  readonly url: string;
  readonly port: number;
  readonly lines: LogLine[];
  readonly parts: TestParts;
  /** `fetch` below the server's URL, with the bearer `good` unless the headers say otherwise. */
  get(path: string, init?: RequestInit): Promise<Response>;
  /** Sends raw bytes and resolves with everything that came until the server closed (or `until` was seen). */
  raw(text: string, until?: RegExp): Promise<string>;
  /** Ends it; the signal that a process would get. */
  stop(): Promise<void>;
}

const SERVER = { address: '127.0.0.1', port: 0, shutdownDelayMs: 0 };

/** The app on a free loopback port. */
export async function startApp(
  change: Partial<TestParts> = {},
  makeApp: (parts: TestParts) => App = createApp,
  drainMs = 1_000,
): Promise<AppUnderTest> {
  const lines: LogLine[] = [];
  const closing = new AbortController();
  const parts = appParts({ closing: closing.signal, ...change }, lines);
  const onClosing = (): void => closing.abort();
  const app = makeApp(parts);
  const server = createHttpServer({ ...SERVER, drainMs, streamDrainMs: parts.gateway?.streamDrainMs ?? 0 }, app, {
    ...parts,
    onDraining: () => {},
    onClosing,
  });
  const { port } = await server.listen();
  const ending = new AbortController();
  const running = server.run(ending.signal);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    lines,
    parts,
    get: (path, init = {}) =>
      fetch(url + path, { redirect: 'manual', ...init, headers: { Authorization: 'Bearer good', ...init.headers } }),
    raw: (text, until) => rawExchange(port, text, until),
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}

/** What a raw socket got until the peer closed, `until` matched, or 100 s passed (then it rejects). */
export async function rawExchange(port: number, text: string, until?: RegExp): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  const limit = setTimeout(() => socket.destroy(new Error(`no end after: ${received}`)), 100_000);
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    if (until?.test(received)) socket.destroy();
  });
  try {
    await once(socket, 'connect');
    socket.write(text, 'latin1');
    await once(socket, 'close');
  } finally {
    clearTimeout(limit);
  }
  return received;
}

/**
 * Resolves as soon as `holds` does; rejects after a minute, or with the reason of `lost`. For what happens on the server a moment later.
 */
export async function eventually(holds: () => boolean, more: Pick<Waiting, 'lost' | 'saw'> = {}): Promise<void> {
  await waitFor(holds, Boolean, { turn: nextTurn, limitMs: 60_000, ...more });
}
