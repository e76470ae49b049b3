import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../statistics.ts';
import { Connection, requestBytes, type Target } from './connection.ts';
import { secondsBetween, serverShareOf, usageNow } from './usage.ts';

/** Sends the same request at a fixed rate, however long the answers take (open loop), on several connections in turn. */
export interface PacedPlan {
  readonly target: Target;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly perSecond: number;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** The process whose processor time is reported. */
  readonly serverPid?: number;
}

export interface PacedReport {
  readonly perSecond: number;
  /** From the moment when a request was sent, or would have been sent if its connection had been free. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The server's processor time, as a share of one core. */
  readonly serverShare?: number;
}

/** Measures as planned. Rejects on the first answer that is not 200 and on the first broken connection. */
export async function runPaced(plan: PacedPlan): Promise<PacedReport> {
  const lanes = await Promise.all(Array.from({ length: plan.connections }, () => Lane.open(plan)));
  try {
    await send(lanes, plan, plan.warmUpMs);
    const first = usageNow(plan.serverPid);
    const latencies = await send(lanes, plan, plan.measureMs);
    const last = usageNow(plan.serverPid);
    return {
      perSecond: latencies.length / secondsBetween(first, last),
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
      ...serverShareOf(first, last),
    };
  } finally {
    for (const lane of lanes) lane.close();
  }
}

/** Sends for so long, and waits for the last answers. Resolves to the latencies. */
async function send(lanes: readonly Lane[], { perSecond }: PacedPlan, forMs: number): Promise<number[]> {
  const latencies: Promise<number>[] = [];
  const startAt = performance.now();
  const all = Math.round((perSecond * forMs) / 1_000);
  for (let index = 0; index < all; index++) {
    const dueInMs = startAt + (index * 1_000) / perSecond - performance.now();
    if (dueInMs > 0) await sleep(dueInMs);
    latencies.push((lanes[index % lanes.length] as Lane).ask());
  }
  return Promise.all(latencies);
}

/** One connection, whose requests wait for each other. */
class Lane {
  readonly #connection: Connection;
  readonly #request: Buffer;
  readonly #path: string;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(connection: Connection, { target, ...ask }: PacedPlan) {
    this.#connection = connection;
    this.#request = requestBytes(target, { path: ask.path, headers: ask.headers });
    this.#path = ask.path;
  }

  static async open(plan: PacedPlan): Promise<Lane> {
    return new Lane(await Connection.open(plan.target), plan);
  }

  /** Resolves to the milliseconds until the answer is complete. */
  ask(): Promise<number> {
    const askedAt = performance.now();
    const answered = this.#last.then(async () => {
      const { status } = await this.#connection.exchange(this.#request);
      if (status !== 200) throw new Error(`${this.#path} answered ${status}`);
      return performance.now() - askedAt;
    });
    this.#last = answered.catch(() => undefined);
    return answered;
  }

  close(): void {
    this.#connection.close();
  }
}
