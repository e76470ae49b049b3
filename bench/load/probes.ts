import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../statistics.ts';
import { Connection, requestBytes, type Target } from './connection.ts';

/** Sends the same request at a fixed rate, whatever the answers are. */
export interface ProbePlan {
  readonly target: Target;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly everyMs: number;
  /** Default: until the signal aborts. */
  readonly measureMs?: number;
}

export interface ProbeReport {
  readonly probes: number;
  /** Answers by status; `none` where the connection failed. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Milliseconds from the start to the first and to the last probe that was not answered 200. */
  readonly missed?: { readonly firstMs: number; readonly lastMs: number };
  /** Counted from the moment when a probe was due, so that a late one counts as slow. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Never rejects: probes without an answer are counted. */
export async function runProbes(plan: ProbePlan, signal?: AbortSignal): Promise<ProbeReport> {
  const request = requestBytes(plan.target, plan);
  const prober = new Prober(plan.target);
  const statuses: Record<string, number> = {};
  const latenciesMs: number[] = [];
  const missedAtMs: number[] = [];
  const startAt = performance.now();
  const measureMs = plan.measureMs ?? Number.POSITIVE_INFINITY;
  // Counts from 0: sums that begin at a time of the clock are rounded, and then there is sometimes one probe too many.
  for (let dueMs = 0; dueMs < measureMs && !signal?.aborted; dueMs += plan.everyMs) {
    await sleep(Math.max(0, startAt + dueMs - performance.now()));
    const status = await prober.ask(request);
    statuses[status] = (statuses[status] ?? 0) + 1;
    latenciesMs.push(performance.now() - startAt - dueMs);
    if (status !== '200') missedAtMs.push(dueMs);
  }
  prober.close();
  const [p50Ms, p99Ms, maxMs] = [0.5, 0.99, 1].map((share) => quantile(latenciesMs, share)) as [number, number, number];
  const [firstMs = 0, lastMs = firstMs] = [missedAtMs[0], missedAtMs.at(-1)];
  const missed = missedAtMs.length > 0 && { missed: { firstMs, lastMs } };
  return { probes: latenciesMs.length, statuses, ...missed, p50Ms, p99Ms, maxMs };
}

/** Keeps one connection open, and opens another one when it is closed. */
class Prober {
  readonly #target: Target;
  #connection: Connection | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  async ask(request: Buffer): Promise<string> {
    try {
      this.#connection ??= await Connection.open(this.#target);
      const answer = await this.#connection.exchange(request);
      if (answer.last) this.close();
      return String(answer.status);
    } catch {
      this.close();
      return 'none';
    }
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}
