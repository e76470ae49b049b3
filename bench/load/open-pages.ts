import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../statistics.ts';
import { type Ask, Connection, requestBytes, type Target } from './connection.ts';
import { loopDelayMs } from './metrics.ts';
import { memoryOf, secondsBetween, serverShareOf, usageNow } from './usage.ts';

/** What one open page calls: it follows a watch, reads its part of the list each second, and renews its session. */
export interface OpenPage {
  readonly watch: Ask;
  readonly read: Ask;
  readonly renew: Ask;
}

export interface OpenPagesPlan {
  readonly target: Target;
  /** None of them: the server alone is measured. */
  readonly pages: readonly OpenPage[];
  readonly readEveryMs: number;
  readonly renewEveryMs: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  readonly serverPid: number;
  readonly metricsUrl: string;
}

export interface OpenPagesReport {
  readonly pages: number;
  readonly seconds: number;
  /** How many reads had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly renewals: number;
  /** The latency of a read; absent if there was none. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  /** Content of all reads, and everything on the watches. */
  readonly readBytes: number;
  readonly watchBytes: number;
  /** The server's event loop delay, 99th percentile. */
  readonly loopDelayMs: number;
  readonly residentBytes: number | undefined;
  /** The server's processor time, as a share of one core; absent if it is not known. */
  readonly serverShare?: number;
  /** The processor time of this process, as a share of one core. */
  readonly readerShare: number;
}

/** Opens all pages, and measures after the warm-up. Rejects when a call is refused or a connection breaks. */
export async function runOpenPages(plan: OpenPagesPlan): Promise<OpenPagesReport> {
  const replays = await Promise.all(plan.pages.map((page) => Replay.open(plan, page)));
  const ended = new AbortController();
  try {
    const running = Promise.all(replays.map((replay, index) => replay.run(index / replays.length, ended.signal)));
    const until = (ms: number): Promise<unknown> => Promise.race([sleep(ms), running.then(() => sleep(ms))]);
    await until(plan.warmUpMs);
    await loopDelayMs(plan); // forgets what was before
    for (const replay of replays) replay.forget();
    const first = usageNow(plan.serverPid);
    await until(plan.measureMs);
    const last = usageNow(plan.serverPid);
    const seconds = secondsBetween(first, last);
    const report = {
      ...{ pages: replays.length, seconds, ...sumOf(replays), loopDelayMs: await loopDelayMs(plan) },
      ...{ residentBytes: (await memoryOf({ pid: plan.serverPid, metricsUrl: plan.metricsUrl })).now },
      ...{ ...serverShareOf(first, last), readerShare: (last.own - first.own) / seconds },
    };
    ended.abort();
    await running;
    return report;
  } finally {
    ended.abort();
    for (const replay of replays) replay.close();
  }
}

function sumOf(replays: readonly Replay[]) {
  const statuses: Record<string, number> = {};
  for (const { counted } of replays)
    for (const status of counted.statuses) statuses[status] = (statuses[status] ?? 0) + 1;
  const latencies = replays.flatMap(({ counted }) => counted.latenciesMs);
  const sum = (of: 'renewals' | 'readBytes' | 'watchBytes'): number =>
    replays.reduce((total, { counted }) => total + counted[of], 0);
  return {
    statuses,
    ...(latencies.length === 0 ? {} : { p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) }),
    ...{ renewals: sum('renewals'), readBytes: sum('readBytes'), watchBytes: sum('watchBytes') },
  };
}

const nothing = () => ({
  ...{ statuses: [] as number[], latenciesMs: [] as number[] },
  ...{ renewals: 0, readBytes: 0, watchBytes: 0 },
});

/** The calls of one page, on two connections as a browser makes them. */
class Replay {
  readonly #plan: OpenPagesPlan;
  readonly #page: OpenPage;
  readonly #connection: Connection;
  #watch: Socket | undefined;
  #tag: string | undefined;
  #cause: Error | undefined;
  counted = nothing();

  private constructor(plan: OpenPagesPlan, page: OpenPage, connection: Connection) {
    this.#plan = plan;
    this.#page = page;
    this.#connection = connection;
  }

  static async open(plan: OpenPagesPlan, page: OpenPage): Promise<Replay> {
    const replay = new Replay(plan, page, await Connection.open(plan.target));
    await replay.#follow();
    return replay;
  }

  forget(): void {
    this.counted = nothing();
  }

  close(): void {
    this.#connection.close();
    this.#watch?.removeAllListeners('close').destroy();
  }

  /** Resolves when the watch is answered. */
  #follow(): Promise<void> {
    const { target } = this.#plan;
    return new Promise((resolve, reject) => {
      const request = requestBytes(target, this.#page.watch);
      const socket = connect({ port: target.port, host: '127.0.0.1', noDelay: true }, () => socket.write(request));
      this.#watch = socket;
      socket.once('data', (piece) => {
        if (piece.toString('latin1').startsWith('HTTP/1.1 200')) return resolve();
        reject(new Error(`a watch was answered ${piece.toString('latin1').slice(0, 300)}`));
      });
      socket.on('data', (piece) => {
        this.counted.watchBytes += piece.length;
      });
      socket.on('error', reject);
      socket.on('close', () => {
        this.#cause = new Error('a watch was closed');
        reject(this.#cause);
      });
    });
  }

  /** Reads and renews until the signal. `phase`, from 0 to 1, is where in an interval this page is: pages are not opened together. */
  async run(phase: number, until: AbortSignal): Promise<void> {
    const { readEveryMs, renewEveryMs } = this.#plan;
    const startAt = performance.now() + phase * readEveryMs;
    let renewAt = performance.now() + phase * renewEveryMs;
    for (let nth = 0; !until.aborted; nth++) {
      await sleep(Math.max(0, startAt + nth * readEveryMs - performance.now()));
      if (this.#cause) throw this.#cause;
      if (until.aborted) return;
      await this.#read();
      if (performance.now() < renewAt) continue;
      renewAt += renewEveryMs;
      await this.#exchange(this.#page.renew, [200]);
      this.counted.renewals++;
    }
  }

  async #read(): Promise<void> {
    const { read } = this.#page;
    const headers = { ...read.headers, ...(this.#tag === undefined ? {} : { 'if-none-match': this.#tag }) };
    const askedAt = performance.now();
    const { status, bytes } = await this.#exchange({ ...read, headers }, [200, 304]);
    this.counted.latenciesMs.push(performance.now() - askedAt);
    this.counted.statuses.push(status);
    this.counted.readBytes += bytes;
    this.#tag = /\r\netag: *([^\r]+)/i.exec(this.#connection.lastHead)?.[1];
  }

  async #exchange(ask: Ask, expected: readonly number[]) {
    const answer = await this.#connection.exchange(requestBytes(this.#plan.target, ask));
    if (!expected.includes(answer.status)) throw new Error(`${ask.path} answered ${answer.status}`);
    return answer;
  }
}
