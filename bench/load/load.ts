import { quantile } from '../statistics.ts';
import { Connection, requestBytes, type Target } from './connection.ts';
import { secondsBetween, serverShareOf, type Usage, usageNow } from './usage.ts';

/** One measurement: sends the same request over and over, one at a time on every connection. */
export interface LoadPlan {
  readonly target: Target;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The status that every answer must have. Default: 200. */
  readonly status?: number;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** The measurement ends early after this many requests. */
  readonly maxRequests: number;
  /** The process whose processor time is reported together with the generator's own. */
  readonly serverPid?: number;
}

export interface LoadReport {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bytesPerAnswer: number;
  /** The generator's processor time, as a share of one core. At 1 the generator would be the limit. */
  readonly generatorShare: number;
  /** The server's processor time, as a share of one core; above 1 if the server uses several. */
  readonly serverShare?: number;
}

/** Measures as planned. Rejects on the first answer with another status and on the first broken connection. */
export async function runLoad(plan: LoadPlan): Promise<LoadReport> {
  const connections = await Promise.all(Array.from({ length: plan.connections }, () => Connection.open(plan.target)));
  try {
    const window = new Window(plan);
    await Promise.all(connections.map((connection) => keepAsking(connection, plan, window)));
    return window.report();
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Sends requests until the window ends. Waits for the last answer, so that its cost is not in the next measurement. */
async function keepAsking(connection: Connection, plan: LoadPlan, window: Window): Promise<void> {
  const request = requestBytes(plan.target, plan);
  while (!window.ended) {
    const askedAt = performance.now();
    const answer = await connection.exchange(request);
    if (answer.status !== (plan.status ?? 200)) throw new Error(`${plan.path} answered ${answer.status}`);
    window.count(askedAt, answer.bytes);
  }
}

/** Counts the answers that end between the warm-up and the end. */
class Window {
  readonly #plan: LoadPlan;
  readonly #startAt: number;
  readonly #latencies: number[] = [];
  #bytes = 0;
  #first: Usage | undefined;
  #last: Usage | undefined;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#startAt = performance.now() + plan.warmUpMs;
  }

  get ended(): boolean {
    return this.#last !== undefined;
  }

  count(askedAt: number, bytes: number): void {
    const now = performance.now();
    if (this.ended || now < this.#startAt) return;
    // The first answer after the warm-up opens the window and is not in it.
    if (!this.#first) this.#first = usageNow(this.#plan.serverPid);
    else {
      this.#latencies.push(now - askedAt);
      this.#bytes += bytes;
      if (now - this.#first.at >= this.#plan.measureMs || this.#latencies.length >= this.#plan.maxRequests)
        this.#last = usageNow(this.#plan.serverPid);
    }
  }

  report(): LoadReport {
    if (!this.#first || !this.#last) throw new Error('the measurement has not ended');
    const seconds = secondsBetween(this.#first, this.#last);
    return {
      requests: this.#latencies.length,
      requestsPerSecond: this.#latencies.length / seconds,
      p50Ms: quantile(this.#latencies, 0.5),
      p99Ms: quantile(this.#latencies, 0.99),
      bytesPerAnswer: this.#bytes / this.#latencies.length,
      generatorShare: (this.#last.own - this.#first.own) / seconds,
      ...serverShareOf(this.#first, this.#last),
    };
  }
}
