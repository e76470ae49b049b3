import { batch, effect, signal, untracked } from '@preact/signals';
import { noted, send } from '../api/call.ts';
import { away, mayPass, type Refusal, refusalOf } from '../api/refusal.ts';
import { BackOff } from '../live/back-off.ts';
import { readLines } from '../live/lines.ts';
import { pause } from '../live/pause.ts';
import { hasStream } from '../live/stream-turn.ts';
import { byTime } from './by-time.ts';
import { type Block, KeptRows, type Row } from './kept-rows.ts';
import { KnownLines } from './known-lines.ts';
import { ShownPods } from './shown-pods.ts';
import { parseStreamRecord, type StreamRecord } from './stream-record.ts';

/** What is kept on the page: more is not read by anybody, and a tab has to stay small. */
const LIMITS = { rows: 10_000, size: 8 * 1024 * 1024 };
/** Rows are shown so often at most. */
const SHOW_MS = 250;
/** The last lines of all containers come one container after the other: they are shown together, in the order of their times. */
const FIRST_SHOW_MS = 600;
/** A stream that opens again begins so much earlier than the last one ended, because lines of one container may come later than those of another. */
const OVERLAP_SECONDS = 60;
/** The most lines of a container that the server reads from before the stream, and the oldest (docs/contract/gateway.md, section 13). */
const MOST_TAIL = 5_000;
const MOST_SECONDS = 2_592_000;
/** The server says something each 45 s at least: after this time without a word, the connection is dead. */
const SILENT_MS = 100_000;

/** What the stream is doing. */
export type StreamState =
  | 'opening'
  | 'open'
  /** It has broken off, and is opened again after a while. */
  | 'broken'
  /** Another page of this browser has the one stream. */
  | 'elsewhere'
  /** It has ended, or was refused. The reader may open it again. */
  | 'ended';

/** The logs of all pods of a workload as they are written, from one stream (W-18). It lives until it is closed. */
export class LiveLogs {
  readonly blocks = signal<readonly Block[]>([]);
  readonly state = signal<StreamState>('opening');
  readonly refusal = signal<Refusal | undefined>(undefined);
  /** Why the stream has ended, in the words of the server. */
  readonly end = signal<{ readonly reason: string; readonly message: string } | undefined>(undefined);
  readonly isPaused = signal(false);
  /** Rows that came while it is paused, and whether no more are read until it goes on. */
  readonly waiting = signal(0);
  readonly isWaitingFull = signal(false);
  /** Rows that were dropped, because too many are kept. */
  readonly dropped = signal(0);
  /** How many of the workload's pods are shown, if not all. */
  readonly more = signal<{ readonly shown: number; readonly pods: number } | undefined>(undefined);
  readonly isClusterAway = signal(false);
  readonly pods = new ShownPods();

  readonly #path: string;
  readonly #tail: number;
  readonly #kept = new KeptRows(LIMITS);
  readonly #waiting = new KeptRows(LIMITS);
  readonly #known = new KnownLines();
  readonly #backOff = new BackOff();
  readonly #endTurns: () => void;
  #coming: Row[] = [];
  #showTimer: ReturnType<typeof setTimeout> | undefined;
  #stop = new AbortController();
  /** Up to when everything was read, by the clock of this page; `undefined` before the first stream. */
  #readUntil: number | undefined;
  #resumed = Promise.withResolvers<void>();

  /** `path`: of the workload's `…/log`. `tail`: how many lines of each container come first. */
  constructor(path: string, tail: number) {
    this.#path = path;
    this.#tail = tail;
    this.#endTurns = effect(() => {
      const isMine = hasStream.value;
      untracked(() => (isMine ? this.#open() : this.#leave('elsewhere')));
    });
  }

  close(): void {
    this.#endTurns();
    this.#leave('ended');
    clearTimeout(this.#showTimer);
  }

  /** Opens it again after it has ended or was refused. */
  again(): void {
    this.#leave('opening');
    this.#open();
  }

  pause(isPaused: boolean): void {
    this.isPaused.value = isPaused;
    if (isPaused) return;
    this.#show();
    this.#resumed.resolve();
    this.#resumed = Promise.withResolvers();
  }

  /** Takes away what is shown. New lines go on. */
  clear(): void {
    this.#kept.clear();
    this.#show();
  }

  #leave(state: StreamState): void {
    this.#stop.abort();
    this.#flush();
    this.state.value = state;
  }

  #open(): void {
    const stop = new AbortController();
    this.#stop = stop;
    void this.#follow(stop.signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    this.end.value = undefined;
    while (!signal.aborted) {
      this.state.value = 'opening';
      const waitMs = await this.#readOnce(signal);
      if (signal.aborted) return;
      this.#flush();
      if (waitMs === undefined) {
        this.state.value = 'ended';
        return;
      }
      this.state.value = 'broken';
      await pause(waitMs, signal);
    }
  }

  /** One stream to its end. Resolves to the time until the next one; to `undefined` if there is to be none. */
  async #readOnce(signal: AbortSignal): Promise<number | undefined> {
    const address = `${this.#path}?${this.#query()}`;
    const silent = new AbortController();
    let watchdog = setTimeout(() => silent.abort(), SILENT_MS);
    try {
      const answer = await send(address, {
        headers: { Accept: 'application/x-ndjson, application/json' },
        signal: AbortSignal.any([signal, silent.signal]),
      });
      if (!answer.ok || !answer.body)
        return this.#refused(noted(refusalOf({ method: 'GET', path: address }, answer, await answer.text())));
      this.#begun();
      for await (const lines of readLines(answer.body)) {
        clearTimeout(watchdog);
        if (signal.aborted) break; // the next stream reads these lines again
        const end = this.#take(lines);
        this.#backOff.succeeded();
        if (end) return this.#ended(end);
        await this.#room(signal);
        watchdog = setTimeout(() => silent.abort(), SILENT_MS);
      }
      return this.#backOff.failed();
    } catch (error) {
      if (!signal.aborted) this.refusal.value = away({ method: 'GET', path: address }, error);
      return this.#backOff.failed();
    } finally {
      clearTimeout(watchdog);
    }
  }

  #query(): URLSearchParams {
    if (this.#readUntil === undefined) return new URLSearchParams({ follow: 'true', tailLines: `${this.#tail}` });
    const seconds = Math.ceil((performance.now() - this.#readUntil) / 1_000) + OVERLAP_SECONDS;
    return new URLSearchParams({
      ...{ follow: 'true', tailLines: `${MOST_TAIL}`, sinceSeconds: `${Math.min(MOST_SECONDS, seconds)}` },
    });
  }

  #begun(): void {
    if (this.#readUntil !== undefined) {
      const seconds = Math.round((performance.now() - this.#readUntil) / 1_000);
      this.#known.again([...this.#kept.blocks, ...this.#waiting.blocks]);
      this.#coming.push({ type: 'note', event: 'gap', seconds });
    }
    this.pods.opened();
    batch(() => {
      this.state.value = 'open';
      this.refusal.value = undefined;
      this.more.value = undefined;
      this.isClusterAway.value = false;
    });
    this.#showSoon(FIRST_SHOW_MS);
  }

  #refused(refusal: Refusal): number | undefined {
    this.refusal.value = refusal;
    return mayPass(refusal) ? this.#backOff.failed(refusal.retryAfterSeconds) : undefined;
  }

  /** A server that stops has others beside it; the next call of a session that is over leads to the sign-in page. */
  #ended(end: { readonly reason: string; readonly message: string }): number | undefined {
    if (end.reason === 'closing' || end.reason === 'revoked') return this.#backOff.failed();
    this.end.value = end;
    return undefined;
  }

  #take(lines: readonly string[]): { readonly reason: string; readonly message: string } | undefined {
    for (const line of lines) {
      const record = parseStreamRecord(line);
      if (record?.type === 'end') return record;
      if (record) this.#note(record);
    }
    if (!this.isClusterAway.value) this.#readUntil = performance.now();
    this.#showSoon(SHOW_MS);
    return undefined;
  }

  #note(record: Exclude<StreamRecord, { readonly type: 'end' }>): void {
    switch (record.type) {
      case 'line':
        this.pods.noteLine(record);
        if (this.#known.isNew(record)) this.#coming.push(record);
        break;
      case 'pod':
        if (record.event === 'left') this.#known.forget(record.pod);
        if (this.pods.noteEvent(record)) this.#coming.push(record);
        break;
      case 'more':
        this.more.value = record.shown < record.pods ? record : undefined;
        break;
      case 'cluster':
        this.isClusterAway.value = record.event === 'away';
        break;
      case 'idle':
        break;
      default:
        record satisfies never;
    }
  }

  /** Waits while it is paused and no more is kept for later: the server then waits, too, and nothing is lost (section 13, G-31). */
  async #room(signal: AbortSignal): Promise<void> {
    if (!this.isPaused.value) return;
    this.#flush();
    if (!this.#waiting.isFull) return;
    this.isWaitingFull.value = true;
    const left = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => left.resolve());
    await Promise.race([this.#resumed.promise, left.promise]);
    this.isWaitingFull.value = false;
  }

  #showSoon(ms: number): void {
    this.#showTimer ??= setTimeout(() => this.#flush(), ms);
  }

  /** Keeps what has come. */
  #flush(): void {
    clearTimeout(this.#showTimer);
    this.#showTimer = undefined;
    const rows = byTime(this.#coming);
    this.#coming = [];
    if (rows.length > 0) (this.isPaused.value ? this.#waiting : this.#kept).add(rows);
    this.#show();
  }

  #show(): void {
    if (!this.isPaused.value && this.#waiting.count > 0) {
      for (const { rows } of this.#waiting.blocks) this.#kept.add(rows);
      this.#waiting.clear();
    }
    batch(() => {
      this.blocks.value = this.#kept.blocks;
      this.dropped.value = this.#kept.dropped;
      this.waiting.value = this.#waiting.count;
      this.pods.show();
    });
  }
}
