import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import {
  type SimulatedCluster,
  type SimulatedClusterOptions,
  startSimulatedCluster,
} from '../../../dev/cluster/cluster.ts';
import { type Cluster, connectCluster } from '../../../src/kubernetes/cluster.ts';
import type { Reflector } from '../../../src/kubernetes/reflector/reflector.ts';
import { atEnd } from '../../support/at-end.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { MapStore } from '../../support/map-store.ts';

/** Back-off waits are then as short as they may be, which is the hardest on the request budget. */
const noJitter = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };
export interface Connected {
  readonly server: SimulatedCluster;
  readonly cluster: Cluster;
  readonly clock: FakeClock;
  readonly kubeconfig: string;
  value(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
}

/** A simulated API server and our connection to it, both on one clock that moves only when told to. */
export async function connect(
  options: SimulatedClusterOptions = {},
  configure: (server: SimulatedCluster, folder: string) => string | Promise<string> = (server) => server.kubeconfig(),
) {
  const clock = new FakeClock();
  const [port = 0] = await freePorts(1); // a restart comes back to it
  const server = await startSimulatedCluster({ port, clock, watchList: false, bookmarkIntervalMs: 0, ...options });
  atEnd(() => server.stop());
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-reflector-'));
  atEnd(() => rm(folder, { recursive: true }));
  const kubeconfig = join(folder, 'config');
  await writeFile(kubeconfig, await configure(server, folder));
  const registry = new Registry();
  const logger = pino({ level: 'silent' });
  const cluster = await connectCluster({ kubeconfig, version: '1.2.3' }, { clock, random: noJitter, logger, registry });
  atEnd(() => cluster.close());
  const value: Connected['value'] = async (name, labels = {}) => {
    const metric = await registry.getSingleMetric(`gatehouse_${name}`)?.get();
    const wanted = Object.entries(labels);
    return metric?.values.find((one) => wanted.every(([key, text]) => one.labels[key] === text))?.value ?? 0;
  };
  return { server, cluster, clock, kubeconfig, value } satisfies Connected;
}

/** A running reflector of nodes, synced and watching, with the evidence counted from there. */
export class Mirror {
  readonly server: SimulatedCluster;
  readonly clock: FakeClock;
  readonly store = new MapStore();
  readonly reflector: Reflector;
  readonly value: Connected['value'];
  readonly #connected: Connected;

  constructor(connected: Connected) {
    this.#connected = connected;
    this.server = connected.server;
    this.clock = connected.clock;
    this.value = connected.value;
    const plan = { longestPeriodMs: 3_600_000 };
    this.reflector = connected.cluster.reflect({ path: '/api/v1/nodes', name: 'nodes' }, this.store, plan);
    const controller = new AbortController();
    const running = this.reflector.run(controller.signal);
    atEnd(() => {
      controller.abort();
      return running;
    });
  }

  get cluster(): Cluster {
    return this.#connected.cluster;
  }

  /** Lists that fetch objects: those of the self-check, of names and versions at an exact version, are not among them. */
  get lists(): number {
    return this.server.evidence.listStarts('nodes') - this.checks;
  }

  /** Lists of the self-check; three nodes are one page. */
  get checks(): number {
    const { requests } = this.server.evidence;
    return requests.filter(({ query }) => query.get('resourceVersionMatch') === 'Exact').length;
  }

  get watches(): number {
    return this.server.evidence.count('watch', 'nodes');
  }

  /** The query of the newest request of this verb. */
  lastQuery(verb: 'list' | 'watch'): Record<string, string> {
    const requests = this.server.evidence.requests.filter(
      (one) => one.verb === verb && one.target?.kind.plural === 'nodes',
    );
    return Object.fromEntries(requests.at(-1)?.query ?? []);
  }

  /** I1: the same objects in the same versions on both sides. */
  converged = (): boolean => {
    const objects = this.server.objects.list('nodes');
    const versions = objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
    return JSON.stringify(versions.sort()) === JSON.stringify(this.store.versions());
  };

  watching = (): boolean => this.server.evidence.openWatches('nodes') === 1;

  /** Resets every connection; the server is back before any time has passed. */
  async restart(): Promise<void> {
    let isBack = false;
    const back = this.server.restart().then(() => {
      isBack = true;
    });
    for (const giveUp = AbortSignal.timeout(60_000); !isBack && !giveUp.aborted; ) await this.clock.advance(0);
    await back;
  }

  /**
   * Lets the world go on until the condition holds, and time only while the reflector waits by it: what comes over a
   * socket costs none. Returns the milliseconds that passed; fails after `atMostMs` of them, or after a minute
   * of a socket's time.
   */
  async elapse(condition: () => boolean | Promise<boolean>, atMostMs = 60_000): Promise<number> {
    const giveUp = AbortSignal.timeout(60_000);
    const began = this.clock.monotonic();
    while (!(await condition())) {
      if (giveUp.aborted) throw new Error(`a minute was in vain: waited for ${condition}`);
      const waits = (await this.value('reflector_state', { state: 'backing_off' })) === 1;
      if (!waits) await nextTurn();
      else if (this.clock.monotonic() - began >= atMostMs) throw new Error(`not within ${atMostMs} ms: ${condition}`);
      else await this.clock.advance(100);
    }
    return this.clock.monotonic() - began;
  }

  /** Lets the fault last for so long, as far as the reflector waits; ends early when it is content to watch. */
  async outlast(ms: number): Promise<void> {
    const until = this.clock.monotonic() + ms;
    await this.elapse(() => this.clock.monotonic() >= until, ms);
  }
}

/** Three nodes, mirrored; the counters of requests begin at 0 from here. */
export async function startMirror(options: SimulatedClusterOptions = {}): Promise<Mirror> {
  const connected = await connect(options);
  for (const name of ['a', 'b', 'c']) connected.server.objects.create('nodes', { metadata: { name } });
  const mirror = new Mirror(connected);
  await mirror.elapse(() => mirror.converged() && mirror.watching());
  connected.server.evidence.reset();
  return mirror;
}
