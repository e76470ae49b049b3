import { Backoff } from '../../runtime/backoff.ts';
import { type Clock, Waiting } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { type CallerReads, isFailure, messageOf, type RefusedRead } from './caller-reads.ts';
import { LineReader, type ReadLine } from './line-reader.ts';
import type { LogRequest } from './log-request.ts';
import type { StreamSeats } from './log-seats.ts';
import type { ContainerView } from './pod-view.ts';
import { type LogOut, type PodEvent, toLine } from './records.ts';
import type { SeenLines } from './seen-lines.ts';

/** How long to wait for a place when all are taken. */
const SEAT_MS = 2_000;
/** How long to wait for news of a container that has nothing to read now. The watch ends the wait. */
const NEWS_MS = 3_600_000;

/**
 * How long after the news of a restart it is told at the latest. It is told earlier when the earlier instance has been read; but what is being
 * read may be the new one already.
 */
const TELL_MS = 2_000;
/** The answers for an earlier instance that is not there. */
const NOT_THERE: ReadonlySet<number> = new Set([400, 404]);
/** How often the earlier instance is asked for while the cluster or the node answers with another error. */
const PREVIOUS_TRIES = 3;

export interface ContainerLogParts {
  readonly reads: CallerReads;
  readonly seats: StreamSeats;
  readonly out: LogOut;
  readonly clock: Clock;
  readonly random: Random;
  readonly request: LogRequest;
  readonly namespace: string;
  readonly pod: string;
  /** Whether the container ran before the stream began: only then the limits on old lines count. */
  readonly isOld: boolean;
  readonly seen: SeenLines;
}

/** Follows the log of one container over all its instances, until the container is over or its pod is gone. */
export class ContainerLog {
  readonly #parts: ContainerLogParts;
  readonly #waiting: Waiting;
  readonly #backoff: Backoff;
  readonly #beganAt: number;
  #view: ContainerView;
  #isGone = false;
  /** How often the container had been restarted when its log was last read. */
  #readRestarts: number | undefined;
  /** The number of restarts that the reader of the stream knows of. */
  #toldRestarts: number;
  #cancelTelling = (): void => undefined;
  /** Whether the cluster has answered a read of the log. */
  #wasAnswered = false;
  /** How often in a row the earlier instance could not be read. */
  #previousRefusals = 0;
  /** Whether the cluster, or the node, has refused the last read. */
  #isRefusedNow = false;
  /** Whether the last read began after the container had stopped, and came to its end: there is no more for now. */
  #isThrough = false;

  constructor(view: ContainerView, parts: ContainerLogParts) {
    this.#view = view;
    this.#toldRestarts = view.restarts;
    this.#parts = parts;
    this.#waiting = new Waiting(parts.clock);
    this.#backoff = new Backoff(parts.clock, parts.random);
    this.#beganAt = parts.clock.now();
  }

  get name(): string {
    return this.#view.name;
  }

  update(view: ContainerView): void {
    this.#view = view;
    this.#waiting.end();
    if (view.restarts === this.#toldRestarts) return;
    this.#cancelTelling();
    this.#cancelTelling = this.#parts.clock.after(TELL_MS, this.#tellRestart);
  }

  /** The pod is gone: what is being read is read to its end, and nothing is asked for any more. */
  gone(): void {
    this.#isGone = true;
    this.#waiting.end();
  }

  /** Resolves when nothing more can come. Rejects only if a read must not be made at all. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#run(signal).finally(() => this.#cancelTelling());
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { follow } = this.#parts.request;
    while (!signal.aborted && !this.#isGone) {
      const view = this.#view;
      if (view.hasStarted && this.#hasNews(view)) {
        const isLast = view.isOver || !follow;
        const outcome = await this.#readAll(view, signal);
        if (outcome === 'refused') return;
        if (outcome === 'ended' && isLast) return;
        this.#isThrough = outcome === 'ended' && !view.isRunning;
        const { restarts, isOver } = this.#view;
        if (outcome === 'failed' || (restarts === view.restarts && isOver === view.isOver)) await this.#rest(signal);
      } else if (follow) await this.#rest(signal);
      else return;
    }
  }

  /** Whether the log may have something that was not read. */
  #hasNews({ restarts, isRunning }: ContainerView): boolean {
    return !this.#isThrough || isRunning || restarts !== this.#readRestarts;
  }

  /** Waits for news of the container. While it runs, its log can go on without any, so the wait is only that of the back-off. */
  async #rest(signal: AbortSignal): Promise<void> {
    const isIdle = !this.#view.hasStarted || (this.#isThrough && !this.#view.isRunning);
    if (!this.#isGone) await this.#waiting.sleep(isIdle ? NEWS_MS : this.#backoff.failed(), signal);
  }

  /**
   * Reads what is left of the earlier instance, then the current one. The earlier one is asked for before every read but the first: the
   * container may have been restarted although the watch has not told it yet, and an answer that ends proves nothing, since the API server
   * ends it in order when the kubelet has gone.
   */
  async #readAll(view: ContainerView, signal: AbortSignal): Promise<'ended' | 'failed' | 'refused'> {
    const release = await this.#seat(signal);
    if (!release) return 'failed';
    try {
      if (this.#wasAnswered) {
        const rest = await this.#read({ previous: true }, signal);
        if (rest !== 'ended') return rest;
      }
      this.#readRestarts = view.restarts;
      this.#tellRestart();
      return await this.#read({ previous: false }, signal);
    } finally {
      release();
    }
  }

  readonly #tellRestart = (): void => {
    const { restarts, lastEnd } = this.#view;
    if (restarts === this.#toldRestarts) return;
    this.#toldRestarts = restarts;
    this.#tell('restarted', `restarted, for the ${ordinal(restarts)} time${lastEnd && `: ${lastEnd}`}`);
  };

  async #seat(signal: AbortSignal): Promise<(() => void) | undefined> {
    for (let hasTold = false; !signal.aborted && !this.#isGone; ) {
      const release = this.#parts.seats.take();
      if (release) return release;
      if (!hasTold && this.#view.isRunning) this.#tell('waiting', 'too many logs are read at the moment');
      hasTold = true;
      await this.#parts.clock.sleep(SEAT_MS, signal);
    }
    return undefined;
  }

  async #read(
    { previous }: { readonly previous: boolean },
    signal: AbortSignal,
  ): Promise<'ended' | 'failed' | 'refused'> {
    const { reads, request } = this.#parts;
    const lines = new LineReader();
    const answer = {
      start: () => {
        this.#wasAnswered = true;
        this.#isRefusedNow = false;
      },
      data: (chunk: Buffer): Promise<void> | undefined => {
        this.#backoff.succeeded();
        return this.#send(lines.read(chunk));
      },
    };
    this.#parts.seen.again();
    let refused: RefusedRead | undefined;
    try {
      refused = await reads.stream('log', this.#target(previous), answer, signal);
    } catch (error) {
      if (!signal.aborted && !isFailure(error)) throw error;
      return 'failed'; // the part of a line that has come is read again
    }
    if (!refused) {
      this.#previousRefusals = 0;
      await this.#send(lines.end());
      return 'ended';
    }
    // There is no earlier instance, or its log is gone. A kubelet may have another word for that, which must not keep us from the current one.
    if (previous && (NOT_THERE.has(refused.status) || ++this.#previousRefusals >= PREVIOUS_TRIES)) return 'ended';
    const isLasting = refused.status === 403 || !request.follow;
    // A pod that is not found is gone, which the watch is about to tell.
    const isNew = !this.#isRefusedNow && refused.status !== 404;
    if (isLasting || isNew) this.#tell(isLasting ? 'refused' : 'waiting', messageOf(refused));
    this.#isRefusedNow = true;
    return isLasting ? 'refused' : 'failed';
  }

  #send(lines: readonly ReadLine[]): Promise<void> | undefined {
    const { out, pod, seen } = this.#parts;
    const container = this.name;
    let records = '';
    for (const line of lines) {
      if (!seen.isNew(line)) continue;
      const { time, text, leftOut } = line;
      records += toLine({ type: 'line', pod, container, time, text, ...(leftOut > 0 && { leftOut }) });
    }
    return records === '' ? undefined : out.write(records);
  }

  #tell(event: PodEvent, message: string): void {
    const { out, pod } = this.#parts;
    void out.write(toLine({ type: 'pod', event, pod, container: this.name, message }));
  }

  #target(previous: boolean): string {
    const { namespace, pod, request } = this.#parts;
    const query = new URLSearchParams({ container: this.name, timestamps: 'true' });
    if (previous) query.set('previous', 'true');
    else if (request.follow) query.set('follow', 'true');
    for (const [name, value] of Object.entries(this.#from())) query.set(name, value);
    return `/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(pod)}/log?${query}`;
  }

  /** From where the log is read. The kubelet rounds a time down to the second, so lines come again, which `SeenLines` leaves out. */
  #from(): Readonly<Record<string, string>> {
    const { seen, request, isOld } = this.#parts;
    if (seen.from !== '') return { sinceTime: seen.from };
    if (!isOld) return {};
    const { tailLines, sinceSeconds } = request;
    if (!this.#wasAnswered)
      return {
        tailLines: String(tailLines),
        ...(sinceSeconds !== undefined && { sinceSeconds: String(sinceSeconds) }),
      };
    return { sinceTime: new Date(this.#beganAt - 1_000 * (sinceSeconds ?? 0)).toISOString() };
  }
}

function ordinal(count: number): string {
  const last = count % 100;
  const ending = last >= 11 && last <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return `${count}${ending}`;
}
