import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type SimulatedCluster, startSimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { connectCluster } from '../../../src/kubernetes/cluster.ts';
import { decodeSessions } from '../../../src/oauth/sessions/session-record.ts';
import { NOTHING_REMEMBERED, type SessionStore, type UserSessions } from '../../../src/oauth/sessions/sessions.ts';
import { createAuditLines, createSecurityEvents } from '../../../src/observability/security-events.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { createSessions } from '../../../src/service/session-stores.ts';
import { atEnd } from '../../support/at-end.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/waiting.ts';

export interface SharedStores {
  readonly server: SimulatedCluster;
  readonly clock: FakeClock;
  readonly replicas: readonly SessionStore[];
  readonly sessions: readonly ReturnType<typeof createSessions>[];
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** How many changes of the first replica came back to it by its watch. */
  lagged(): Promise<number>;
  now(): number;
  settle(): Promise<void>;
  /** Breaks every connection; from here on, requests meet the faults. */
  reconnect(): Promise<void>;
  /** Lets time pass until the condition holds. */
  until(condition: () => boolean): Promise<void>;
}

/** The session stores of several replicas on one simulated cluster, synced; their clock moves only when told to. */
export async function openSharedStores(count = 3): Promise<SharedStores> {
  const clock = new FakeClock();
  const [port = 0] = await freePorts(1); // a restart comes back to it
  const server = await startSimulatedCluster({ port, clock, bookmarkIntervalMs: 0 });
  atEnd(() => server.stop());
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-sessions-'));
  atEnd(() => rm(folder, { recursive: true }));
  const kubeconfig = join(folder, 'config');
  await writeFile(kubeconfig, server.kubeconfig());
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const registries: Registry[] = [];
  const open = async (): Promise<ReturnType<typeof createSessions>> => {
    const registry = new Registry();
    registries.push(registry);
    const shared = { clock, random: systemRandom, logger, registry };
    const cluster = await connectCluster({ kubeconfig }, shared);
    atEnd(() => cluster.close());
    const options = { platform: 'gatehouse', store: 'kubernetes', maxStalenessMs: 600_000 } as const;
    const events = createSecurityEvents(createAuditLines(logger), registry);
    const sessions = createSessions(options, { ...shared, cluster, events });
    const stop = new AbortController();
    const running = sessions.upkeep.parts.map((part) => part.run(stop.signal));
    atEnd(() => {
      stop.abort();
      return Promise.all(running);
    });
    return sessions;
  };
  const sessions = await Promise.all(Array.from({ length: count }, open));
  const until = async (condition: () => boolean): Promise<void> => {
    await waitFor(condition, Boolean, { turn: () => clock.advance(1), limitMs: 60_000, saw: () => lines.slice(-10) });
  };
  const replicas = sessions.map(({ store }) => store);
  await until(() => replicas.every((store) => store.fault() === undefined));
  /** What is in the cluster, as a replica that knows it all would read it. */
  const isSettled = (): boolean => {
    const stored = new Map(
      server.objects
        .list('secrets')
        .map((secret) => decodeSessions(decodeData(secret)))
        .map(({ user, sessions: record }) => [user, record]),
    );
    const people = new Set(['alice', 'bob', ...stored.keys()]);
    return [...people].every((user) =>
      replicas.every((store) => isDeepStrictEqual(readOf(store, user), stored.get(user) ?? NOTHING_REMEMBERED)),
    );
  };
  return {
    server,
    clock,
    replicas: replicas.map((store) => drivenBy(clock, store)),
    sessions,
    lines,
    until,
    now: () => Math.floor(clock.now() / 1000),
    settle: () => until(isSettled),
    async reconnect() {
      const state = { isBack: false };
      const back = server.restart().then(() => {
        state.isBack = true;
      });
      await until(() => state.isBack);
      await back;
    },
    async lagged() {
      const metric = await registries[0]?.getSingleMetric('gatehouse_session_record_lag_seconds')?.get();
      const values = (metric?.values ?? []) as readonly { metricName?: string; value: number }[];
      return values.find(({ metricName }) => metricName?.endsWith('_count'))?.value ?? 0;
    },
  };
}

/** `undefined` while it cannot be told. */
function readOf(store: SessionStore, user: string): UserSessions | undefined {
  try {
    return store.read(user);
  } catch {
    return undefined;
  }
}

const decodeData = (secret: object): Record<string, Buffer> => {
  const { data = {} } = secret as { data?: Record<string, string> };
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')]));
};

/** Lets the clock go on while a change is under way: losers of a race wait a moment by it. */
function drivenBy(clock: FakeClock, store: SessionStore): SessionStore {
  return {
    fault: store.fault,
    copies: store.copies,
    newId: store.newId,
    knowsEndsOf: store.knowsEndsOf,
    read: store.read,
    onChange: (changed) => store.onChange(changed),
    async update(user, decide) {
      const state = { isOver: false };
      const change = store.update(user, decide).finally(() => {
        state.isOver = true;
      });
      change.catch(() => {});
      for (const giveUp = AbortSignal.timeout(60_000); !state.isOver && !giveUp.aborted; ) await clock.advance(1);
      return change;
    },
  };
}
