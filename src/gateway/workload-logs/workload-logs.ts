import { onAbort } from '../../runtime/abort.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { StatusError } from '../../status-error.ts';
import { type CallerReads, isFailure, type RefusedRead } from './caller-reads.ts';
import { FollowedPod } from './followed-pod.ts';
import type { LogRequest } from './log-request.ts';
import type { StreamSeats } from './log-seats.ts';
import { type ListedPods, type PodListener, PodSource } from './pod-source.ts';
import type { PodView } from './pod-view.ts';
import { type LogOut, type LogsEnd, toLine } from './records.ts';
import { byChoice, MOST_SHOWN } from './shown-pods.ts';
import { pathOfWorkload, Workload, type WorkloadName } from './workload.ts';

/** How often the object is read again while no log of it is being read: it may be gone, or a job may have ended. */
const LOOK_MS = 10_000;

export interface WorkloadLogsParts {
  readonly reads: CallerReads;
  readonly seats: StreamSeats;
  readonly clock: Clock;
  readonly random: Random;
  readonly request: LogRequest;
  readonly name: WorkloadName;
}

/** What the first reads have brought. */
export interface WorkloadStart {
  readonly workload: Workload;
  readonly source: PodSource;
  readonly listed: ListedPods;
}

/** Reads the object and its pods, as the caller. Resolves to the cluster's refusal if there is one; rejects as `Gateway.forward` does. */
export async function readWorkload(
  { reads, clock, random, name }: WorkloadLogsParts,
  signal: AbortSignal,
): Promise<WorkloadStart | RefusedRead> {
  const read = await reads.document(pathOfWorkload(name), signal);
  if ('status' in read) return read;
  const workload = new Workload(name, read.value);
  const backoff = new Backoff(clock, random);
  const source = new PodSource({ reads, namespace: name.namespace, workload, backoff, clock });
  const listed = await source.list(signal);
  return 'status' in listed ? listed : { workload, source, listed };
}

/** Follows the logs of all pods of a workload: makes one stream of them, while pods come and go. */
export class WorkloadLogs implements PodListener {
  readonly #parts: WorkloadLogsParts;
  readonly #start: WorkloadStart;
  readonly #out: LogOut;
  readonly #stop = new AbortController();
  readonly #end = Promise.withResolvers<LogsEnd>();
  /** All pods of the workload, by uid. */
  readonly #pods = new Map<string, PodView>();
  /** Those whose logs are in the stream, until they have left. */
  readonly #shown = new Map<string, FollowedPod>();
  readonly #wereThere: ReadonlySet<string>;
  #told = '';
  #written: Promise<void> | undefined;

  constructor(start: WorkloadStart, out: LogOut, parts: WorkloadLogsParts) {
    this.#start = start;
    this.#out = out;
    this.#parts = parts;
    this.#wereThere = new Set(start.listed.pods.map(({ uid }) => uid));
  }

  /** The pods whose logs are in the stream. */
  get shown(): readonly FollowedPod[] {
    return [...this.#shown.values()];
  }

  /** Resolves with why nothing more will come. Rejects with an error after which the stream is not whole. */
  async run(signal: AbortSignal): Promise<LogsEnd> {
    const { source, listed } = this.#start;
    const whole = AbortSignal.any([signal, this.#stop.signal]);
    const forget = onAbort(signal, () => this.#end.reject(new Error('the stream was ended')));
    try {
      for (const pod of listed.pods) this.#pods.set(pod.uid, pod);
      for (const pod of listed.pods.toSorted(byChoice).slice(0, MOST_SHOWN)) this.#show(pod);
      this.#tellMore();
      this.#look();
      if (this.#parts.request.follow) {
        source
          .watch(listed.version, this, whole)
          .then((refused) => refused && this.#end.resolve('forbidden'), this.#fail);
        void this.#lookAgain(whole);
      }
      return await this.#end.promise;
    } finally {
      forget();
      this.#stop.abort();
    }
  }

  listed(pods: readonly PodView[]): void {
    const now = new Set(pods.map(({ uid }) => uid));
    for (const uid of this.#pods.keys()) if (!now.has(uid)) this.removed(uid);
    for (const pod of pods) this.changed(pod);
  }

  changed(pod: PodView): void {
    this.#pods.set(pod.uid, pod);
    this.#shown.get(pod.uid)?.update(pod);
    this.#fill();
  }

  removed(uid: string): void {
    this.#pods.delete(uid);
    this.#shown.get(uid)?.gone();
  }

  flush(): Promise<void> | undefined {
    this.#tellMore();
    return this.#written;
  }

  #show(pod: PodView): void {
    const { reads, seats, clock, random, request, name } = this.#parts;
    const wasThere = this.#wereThere.has(pod.uid);
    const before = this.shown.find((one) => one.name === pod.name);
    const followed: FollowedPod = new FollowedPod(
      pod,
      {
        ...{ reads, seats, clock, random, request, wasThere, before },
        out: { write: (lines) => this.#write(lines) },
        namespace: name.namespace,
        // Later, because a pod of which nothing can come calls it while it is made.
        onQuiet: () => queueMicrotask(() => this.#quiet(pod.uid)),
        onFailed: this.#fail,
      },
      this.#stop.signal,
    );
    this.#shown.set(pod.uid, followed);
  }

  /** Lets pods in that have not finished, as far as there is room beside those of which something can still come. */
  #fill(): void {
    let room = MOST_SHOWN - this.shown.filter(({ isOpen }) => isOpen).length;
    if (room <= 0 || this.#stop.signal.aborted) return;
    const waiting = [...this.#pods.values()].filter(({ uid, isFinished }) => !isFinished && !this.#shown.has(uid));
    for (const pod of waiting.toSorted(byChoice)) {
      if (room-- <= 0) return;
      this.#show(pod);
    }
  }

  #quiet(uid: string): void {
    if (this.#shown.get(uid)?.hasLeft) this.#shown.delete(uid);
    if (this.#parts.request.follow) this.#fill();
    this.#tellMore();
    this.#look();
  }

  /** Ends the stream if nothing is read any more and nothing can come. */
  #look(): void {
    if (this.shown.some(({ isOpen }) => isOpen)) return;
    if (!this.#parts.request.follow || this.#start.workload.isFinished) this.#end.resolve('finished');
  }

  /** Reads the object again from time to time while nothing of it is read. */
  async #lookAgain(signal: AbortSignal): Promise<void> {
    const { clock, reads, name } = this.#parts;
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      if (this.shown.some(({ isOpen }) => isOpen)) continue;
      try {
        const read = await reads.document(pathOfWorkload(name), signal);
        if ('status' in read) {
          if (read.status === 404) this.#end.resolve('gone');
          if (read.status === 403) this.#end.resolve('forbidden');
          continue;
        }
        const workload = new Workload(name, read.value);
        if (workload.uid !== this.#start.workload.uid) this.#end.resolve('gone');
        if (workload.isFinished && !this.shown.some(({ isOpen }) => isOpen)) this.#end.resolve('finished');
      } catch (error) {
        if (!signal.aborted && !isFailure(error)) this.#fail(error);
      }
    }
  }

  readonly #fail = (error: unknown): void => {
    if (error instanceof StatusError && error.answer.code === 403) this.#end.resolve('forbidden');
    else this.#end.reject(error);
  };

  #tellMore(): void {
    const pods = this.#pods.size;
    const shown = this.shown.filter(({ hasLeft }) => !hasLeft).length;
    const text = `${shown} of ${pods}`;
    const isMore = pods > shown;
    if (text === this.#told || (!isMore && this.#told === '')) return;
    this.#told = isMore ? text : '';
    const message = `${text} pods are shown: the ready ones first, then the newest`;
    void this.#write(toLine({ type: 'more', shown, pods, message }));
  }

  #write(lines: string): Promise<void> | undefined {
    if (this.#stop.signal.aborted) return undefined;
    this.#written = this.#out.write(lines);
    return this.#written;
  }
}
