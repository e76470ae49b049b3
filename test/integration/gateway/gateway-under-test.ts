import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { GatewayAccess } from '../../../src/gateway/access.ts';
import { CallerPolicy } from '../../../src/gateway/caller.ts';
import { Gateway, type GatewayOptions } from '../../../src/gateway/gateway.ts';
import { GatewayMetrics } from '../../../src/gateway/metrics.ts';
import type { PermittedLists } from '../../../src/gateway/permitted/permitted-lists.ts';
import { createApp } from '../../../src/http/app.ts';
import type { Credential } from '../../../src/kubernetes/access/credentials.ts';
import { ConnectionPool } from '../../../src/kubernetes/client/connection-pool.ts';
import { RequestMetrics } from '../../../src/kubernetes/metrics.ts';
import { Passage } from '../../../src/kubernetes/passage/passage.ts';
import type { Identity, Verification } from '../../../src/oauth/tokens/identity.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import type { SecurityEventFields } from '../../../src/security-events.ts';
import { RESERVED_NAMES } from '../../../src/users/user.ts';
import type { FakeClock } from '../../support/fake-clock.ts';
import { type Recorded, RecordingUpstream } from '../../support/recording-upstream.ts';
import { waitFor } from '../../support/waiting.ts';
import { type AppUnderTest, startApp, type TestParts } from '../http/app-under-test.ts';

export const ALICE: Identity = {
  name: 'alice',
  uid: 'u-1',
  groups: ['dev', 'ops', 'system:authenticated'],
  clientId: 'console',
  sid: 's-1',
};

const CLUSTER_VERSION = { major: '1', minor: '36', gitVersion: 'v1.36.2' };
const OWN_TOKEN = 'own-token';
const TLS = { rejectUnauthorized: true };

export interface GatewayUnderTest extends AppUnderTest {
  readonly upstream: RecordingUpstream;
  /** Who has which bearer; `good` is Alice's. To be changed by a test. */
  readonly bearers: Map<string, Verification>;
  /** `isOld`: the credential must be read again before each call. */
  readonly credentials: { token: string; renewals: number; next: string | undefined; isOld: boolean };
  readonly events: { readonly event: string; readonly fields: SecurityEventFields }[];
  readonly policy: CallerPolicy;
  readonly pool: ConnectionPool;
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
}

export interface Change extends Partial<TestParts> {
  readonly options?: Partial<GatewayOptions>;
  readonly access?: GatewayAccess | undefined;
  /** The address of the API server; by default that of the recording one. */
  readonly server?: string;
  readonly drainMs?: number;
  readonly streamDrainMs?: number;
  /** Our credential at the API server. Default: one that the recording one takes. */
  readonly token?: string;
  /** Makes the permitted lists, of this gateway. Default: none. */
  permittedLists?(parts: {
    readonly gateway: Gateway;
    readonly passage: Passage;
    readonly clock: Clock;
  }): PermittedLists;
}

/** The app with a gateway, in front of an API server that keeps what it is sent. */
export async function startGateway({
  options,
  access,
  server,
  drainMs,
  streamDrainMs = 60_000,
  token = OWN_TOKEN,
  permittedLists,
  ...change
}: Change = {}): Promise<GatewayUnderTest> {
  const upstream = await new RecordingUpstream().listen();
  const { registry = new Registry(), clock = systemClock } = change;
  const pool = await ConnectionPool.load(undefined, { connectMs: 5_000, oldWatches: 'keep' });
  const credentials: GatewayUnderTest['credentials'] = { token, renewals: 0, next: undefined, isOld: false };
  const credential = (): Credential => ({ authorization: `Bearer ${credentials.token}`, tls: TLS });
  const current = async (): Promise<Credential> => credential();
  const renew = (): Promise<Credential> => {
    credentials.renewals += 1;
    credentials.token = credentials.next ?? credentials.token;
    return current();
  };
  const passage = new Passage({
    server: server ?? upstream.url,
    credentials: {
      get fresh() {
        return credentials.isOld ? undefined : credential();
      },
      current,
      renew,
    },
    pool,
    metrics: new RequestMetrics(registry, () => pool.connections),
    clock,
  });
  const policy = new CallerPolicy({ platform: 'gatehouse', names: RESERVED_NAMES });
  const seen: GatewayUnderTest['events'] = [];
  const events = { report: (event: string, fields: SecurityEventFields): void => void seen.push({ event, fields }) };
  const leftOut: string[] = [];
  const gateway = new Gateway(
    { allowProxySubresources: false, impersonation: 'refuse', unknownGroups: 'refuse', ...options },
    {
      passage,
      policy,
      access,
      metrics: new GatewayMetrics(registry),
      clock,
      onLeftOut: (group) => void leftOut.push(group),
      onReserved: ({ caller }) => events.report('reserved_identity_refused', { user: caller.name }),
    },
  );
  const bearers = new Map<string, Verification>([['good', { identity: ALICE, cached: true }]]);
  const verifier = { verify: (text: string): Verification => bearers.get(text) ?? { fault: 'invalid' } };
  const app = await startApp(
    {
      clusterVersion: () => CLUSTER_VERSION,
      registry,
      clock,
      verifier,
      gateway: { gateway, events, permittedLists: permittedLists?.({ gateway, passage, clock }), streamDrainMs },
      ...change,
    },
    createApp,
    drainMs,
  );
  return {
    ...app,
    upstream,
    bearers,
    credentials,
    events: seen,
    policy,
    pool,
    metric: async (name, labels = {}) => {
      const found = await registry.getSingleMetric(name)?.get();
      const isWanted = (all: Readonly<Record<string, unknown>>) =>
        Object.entries(labels).every(([key, value]) => all[key] === value);
      return (found?.values ?? []).filter((value) => isWanted(value.labels)).reduce((sum, { value }) => sum + value, 0);
    },
    stop: async () => {
      await app.stop();
      await pool.close();
      await upstream.close();
    },
  };
}

export const HEAD = 'Host: gatehouse.example\r\nAuthorization: Bearer good\r\n';

/** A request of Alice's as bytes, the last one of its connection. */
export const requestOf = (line: string, headers = '', body = ''): string =>
  `${line} HTTP/1.1\r\n${HEAD}${headers}Connection: close\r\n\r\n${body}`;

/** Ends an app whose clock moves only when told to. */
export async function stopped(app: GatewayUnderTest, clock: FakeClock): Promise<void> {
  let isOver = false;
  const ending = app.stop().finally(() => {
    isOver = true;
  });
  while (!isOver) await clock.advance(1_000);
  await ending;
}

/**
 * Lets time pass until it is so, in steps far below the limits of these tests, with a turn of the event loop for the sockets at each. The
 * kernels' buffers take some megabytes first, in pieces of 64 KiB: a hundred steps or so.
 */
export async function pass(clock: FakeClock, isSo: () => boolean | Promise<boolean>): Promise<void> {
  await waitFor(isSo, Boolean, { turn: () => clock.advance(10).then(() => nextTurn()), limitMs: 60_000 });
}

/** Answers as many bytes as the client takes, and more. */
export function pour({ socket }: Recorded): undefined {
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${2 ** 30}\r\n\r\n`);
  const piece = Buffer.alloc(2 ** 20);
  const pump = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', pump);
  pump();
}
