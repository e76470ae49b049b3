import { getEventListeners } from 'node:events';
import { pino } from 'pino';
import type { ReflectorGauges, ReflectorMetrics } from '../../src/kubernetes/metrics.ts';
import type { Failure } from '../../src/kubernetes/reflector/failure.ts';
import type { ListRequest, WatchRequest } from '../../src/kubernetes/reflector/lister-watcher.ts';
import { type Reflector, StoreReflector } from '../../src/kubernetes/reflector/reflector.ts';
import { TimeSlices } from '../../src/runtime/time-slices.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { CacheOracle, type Served } from './cache-oracle.ts';
import type { Command, Setting } from './commands.ts';
import type { Change } from './history.ts';
import { ModelServer } from './model-server.ts';
import type { ModelWatch } from './model-watch.ts';
import { RequestBudget } from './request-budget.ts';
import { type Reader, storeUnderTest } from './store-under-test.ts';
import { take } from './take.ts';
import { hold } from './violation.ts';
import type { Witness } from './witness.ts';

/** The watch's limit of silence or the wait for the next one, and the self-check. */
const MOST_TIMERS = 3;
const MOST_LISTENERS = 4;
/** A stream that ends cleanly after so long did its work. */
const SHORT_MS = 1_000;
/**
 * I1 for faults that come together. A watch that gets no answer (30 s), the longest back-off (30 s), a 410 soon after another
 * (30 s): 90 s, and some to spare. Silence (75 s, C-06) comes alone.
 */
const CERTAIN_STEPS_MS = [0, 1_000, 9_000, 25_000, 85_000];
/** A cache that equals the server is watching again by then. */
const UNTIL_WATCHING_MS = 120_000;
/** C-24 gives the self-check 8 min; one that falls on a compacted version is made again a period later. */
const UNCERTAIN_STEPS_MS = Array.from({ length: 16 }, () => 60_000);

const silent = pino({ level: 'silent' });
const nothing = (): void => {};

/** The reflector and a store against the model of an API server, with every invariant checked on the way. */
export class CacheRun implements Witness {
  readonly clock = new FakeClock();
  readonly server: ModelServer;
  readonly #oracle: CacheOracle;
  readonly #budget = new RequestBudget();
  readonly #controller = new AbortController();
  readonly #reflector: Reflector;
  readonly #reader: Reader;
  readonly #running: Promise<void>;
  /** A server without it refuses one such request of a process: no list of its own. */
  readonly #watchList: Setting['watchList'];
  #gauges: ReflectorGauges | undefined;
  #broken: unknown;
  #isNextWatchFree = true;
  #badStreams = { at: -1, count: 0 };
  readonly #begun = new WeakMap<ModelWatch, { readonly at: number; readonly version: number }>();

  constructor(setting: Setting) {
    const { clock } = this;
    this.#watchList = setting.watchList;
    this.server = new ModelServer(setting, clock, this);
    const tested = storeUnderTest(setting.store);
    const onListed = (): void => this.#listed();
    this.#oracle = new CacheOracle(tested, { history: this.server.history, clock, onListed });
    this.#reflector = new StoreReflector({
      name: 'nodes',
      source: this.server,
      store: this.#oracle.store,
      clock,
      random: randomFrom(setting.jitter),
      slices: new TimeSlices(clock),
      logger: silent,
      metrics: this.#metrics(),
      plan: { longestPeriodMs: 3_600_000 },
    });
    this.#reader = tested.reader(this.#reflector, clock);
    this.#running = this.#reflector.run(this.#controller.signal).catch((error: unknown) => {
      this.#broken ??= error ?? 'the reflector threw nothing';
    });
  }

  /** One command and all that follows from it at once, then every invariant. */
  async take(command: Command): Promise<void> {
    take(command, this);
    await this.clock.advance(command.do === 'wait' ? command.ms : 0);
    this.#check();
  }

  /** I1 after the last fault, then I3 for one more write, then I7 when all is over. Returns ms to converge. */
  async finish(): Promise<number> {
    this.server.heal();
    const healedAt = this.clock.monotonic();
    const { history } = this.server;
    const isEqual = (): boolean => this.#oracle.equals(history.stateAt(history.version));
    let convergedAt: number | undefined;
    const steps = this.#oracle.isCertain ? CERTAIN_STEPS_MS : UNCERTAIN_STEPS_MS;
    for (const step of steps) {
      await this.clock.advance(step);
      if (step >= 60_000) this.server.sendBookmarks();
      await this.clock.advance(0);
      this.#check();
      if (isEqual() && this.#oracle.hasSynced) convergedAt ??= Math.max(healedAt, this.#oracle.changedAt);
      if (convergedAt !== undefined && this.clock.monotonic() - convergedAt >= UNTIL_WATCHING_MS) break;
    }
    hold(convergedAt !== undefined && isEqual(), 'I1', () => [...history.stateAt(history.version).keys()]);
    await this.take({ do: 'create', node: 9 });
    await this.take({ do: 'update', node: 9 });
    hold(isEqual(), 'I1', () => 'a change after the faults');
    await this.stop();
    this.#reader.reread();
    return convergedAt - healedAt;
  }

  /** Ends the reflector. Everything that it waited for goes with it (I7). */
  async stop(): Promise<void> {
    const { signal } = this.#controller;
    this.#controller.abort();
    await this.clock.advance(0);
    await this.#running;
    this.#rethrow();
    const left = { timers: this.clock.pendingTimers, listeners: getEventListeners(signal, 'abort').length };
    hold(left.timers === 0 && left.listeners === 0, 'I7', () => left);
  }

  lost = (): void => this.#oracle.lost();

  restored = (to: number): void => {
    if (this.#oracle.version > to) this.#oracle.lost();
  };

  listStarts(request: ListRequest | WatchRequest): void {
    const now = this.clock.monotonic();
    const isCheck = 'metadataOnly' in request && request.metadataOnly === true;
    if (!isCheck && !this.#oracle.isCertain) this.#budget.excuse ??= 'the cache differs';
    if (isCheck) this.#budget.selfCheck(now);
    else if ('initialEvents' in request && this.#watchList !== 'yes') this.#budget.watch(now, true);
    else this.#budget.list(now);
  }

  watchStarts({ resourceVersion }: WatchRequest): void {
    this.#oracle.resumes(this.server.history.versionOf(resourceVersion));
    this.#budget.watch(this.clock.monotonic(), this.#isNextWatchFree);
    this.#isNextWatchFree = false;
  }

  accepted(watch: ModelWatch): void {
    this.#begun.set(watch, { at: this.clock.monotonic(), version: this.#oracle.version });
    if (!watch.request.initialEvents) this.#oracle.proven();
  }

  watchEnded(watch: ModelWatch, { kind }: Failure): void {
    const begun = this.#begun.get(watch);
    const progressed = begun !== undefined && this.#oracle.version > begun.version;
    const lived = begun ? this.clock.monotonic() - begun.at : 0;
    this.#isNextWatchFree =
      kind === 'aborted' ? lived >= SHORT_MS : kind === 'closed' && (progressed || lived >= SHORT_MS);
    if (kind !== 'unreadable' && kind !== 'stream_error') return;
    const { at, count } = this.#badStreams;
    this.#badStreams = { at: this.#oracle.version, count: at === this.#oracle.version ? count + 1 : 1 };
    if (this.#badStreams.count >= 3) this.#budget.excuse = 'three bad streams';
  }

  active(): void {
    this.#oracle.read();
    this.#budget.active(this.clock.monotonic());
  }

  outOfReach(why: string): void {
    this.#budget.excuse = why;
  }

  served(list: Served): void {
    this.#oracle.served(list);
  }

  delivering(change: Change, send: () => void): void {
    this.#oracle.delivering(change, send);
  }

  bookmarked(version: number): void {
    this.#oracle.bookmarked(version);
  }

  #listed(): void {
    this.#budget.listed();
    this.#isNextWatchFree = true;
  }

  #check(): void {
    this.#rethrow();
    const now = this.clock.monotonic();
    this.#oracle.settled();
    this.#oracle.read();
    this.#checkAges(now);
    const epoch = this.#gauges?.epoch;
    hold(epoch === this.#oracle.epoch, 'I2', () => ({ epoch, wanted: this.#oracle.epoch }));
    this.#reader.read();
    const timers = this.clock.pendingTimers - this.server.pendingTimers;
    const listeners = getEventListeners(this.#controller.signal, 'abort').length;
    hold(timers <= MOST_TIMERS && listeners <= MOST_LISTENERS, 'I7', () => ({ timers, listeners }));
  }

  #checkAges(now: number): void {
    const { stalenessMs, idleMs } = this.#reflector;
    if (!this.#oracle.isCertain) this.#oracle.provenAt = now - stalenessMs();
    const staleness = now - this.#oracle.provenAt;
    hold(stalenessMs() === staleness, 'I6', () => ({ told: stalenessMs(), staleness }));
    const idle = now - this.#budget.activeAt;
    hold(idleMs() === idle && idle < 300_000, 'I8', () => ({ told: idleMs(), idle }));
  }

  #rethrow(): void {
    if (this.#broken !== undefined) throw this.#broken;
  }

  #metrics(): ReflectorMetrics {
    const expose = (gauges: ReflectorGauges): void => {
      this.#gauges = gauges;
    };
    const counters = { listed: nothing, relisted: nothing, surprised: nothing, watchEnded: nothing };
    return { expose, ...counters, event: nothing, dropped: nothing, selfChecked: nothing };
  }
}

/** Jitter that a seed repeats: a linear congruential generator (Numerical Recipes). */
function randomFrom(seed: number) {
  let state = seed;
  return {
    bytes: (length: number) => Buffer.alloc(length),
    fraction: () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    },
  };
}
