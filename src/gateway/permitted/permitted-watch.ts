import type { PassedAnswer } from '../../kubernetes/passage/passed-call.ts';
import type { Clock } from '../../runtime/clock.ts';
import { EventLines } from './event-lines.ts';
import type { SendPart } from './list-part.ts';
import type { ListOut } from './merged-list.ts';
import { expiredEvent } from './refusals.ts';
import type { ScopeFilter } from './scope-filter.ts';
import type { ScopeHistory } from './scope-history.ts';
import type { ViewedScope } from './viewed-scope.ts';

/** How often the scope of an open watch is worked out again. */
const CHECK_MS = 10_000;
/** How long a watch goes on while its scope cannot be worked out. After it the client starts a new one, and is told why it cannot. */
const UNKNOWN_MS = 60_000;

export interface PermittedWatchParts {
  readonly clock: Clock;
  readonly history: ScopeHistory;
  /** Names the caller and the kind in the history. */
  readonly key: string;
  readonly viewed: ViewedScope;
  readonly filter: ScopeFilter;
  readonly out: ListOut;
  /** The watch of the whole cluster. */
  readonly send: SendPart;
  /** What the caller may see now. */
  currentView(): Promise<ViewedScope>;
  /** The cluster's version now. */
  readVersion(): Promise<string | undefined>;
}

/**
 * How long a watch over fewer namespaces than the caller's lists goes on. Then the client lists again, and so sees the rest as it is now. The two
 * are usually equal, but each is worked out by itself, and one may be some minutes behind.
 */
const PARTIAL_MS = 60_000;

/** How a watch ended. `refused`: the cluster refused it to our own account, and nothing was sent. */
type HowEnded = 'ended' | 'refused';

/** Passes on a watch of the whole cluster as far as it is in the scope, until the scope changes. */
export class PermittedWatch implements PassedAnswer {
  readonly #parts: PermittedWatchParts;
  readonly #lines: EventLines;
  readonly #stop = new AbortController();
  #isPassedOn = false;
  #isRefused = false;
  /** Why we have ended it: another scope, or an answer that cannot be read. */
  #end: 'expired' | 'unknown' | Error | undefined;
  #isOver = false;
  readonly #beganAt: number;
  #knownAt: number;
  #cancel = (): void => undefined;

  constructor(parts: PermittedWatchParts) {
    this.#parts = parts;
    this.#lines = new EventLines(parts.filter);
    this.#beganAt = parts.clock.monotonic();
    this.#knownAt = this.#beganAt;
  }

  /** Resolves when the watch has ended in order. Rejects as `Passage.send` does. */
  async run(signal: AbortSignal): Promise<HowEnded> {
    const { send, out } = this.#parts;
    this.#checkLater();
    try {
      await send(this, AbortSignal.any([signal, this.#stop.signal]));
    } catch (error) {
      if (this.#end === undefined) throw error;
      if (this.#end instanceof Error) throw this.#end;
    } finally {
      this.#isOver = true;
      this.#cancel();
      this.#told();
    }
    if (this.#isRefused) return 'refused';
    if (this.#end === 'expired' && this.#isPassedOn) void out.data(expiredEvent());
    out.end();
    return 'ended';
  }

  start(status: number, headers: readonly string[]): void {
    if (status === 403) {
      this.#isRefused = true;
      return;
    }
    this.#isPassedOn = status === 200;
    this.#parts.out.start(status, headers);
  }

  data(chunk: Buffer): Promise<void> | undefined {
    if (this.#isRefused || this.#end !== undefined) return undefined;
    if (!this.#isPassedOn) return this.#parts.out.data(chunk); // an error of the cluster, not about rights
    const { history, key, viewed } = this.#parts;
    if (history.hasChanged(key, viewed.viewId)) return this.#endBy('expired');
    try {
      const passed = this.#lines.write(chunk);
      if (passed.length === 0) return undefined;
      return this.#parts.out.data(passed.length === 1 ? (passed[0] as Buffer) : Buffer.concat(passed));
    } catch (error) {
      return this.#endBy(error as Error);
    }
  }

  #endBy(why: 'expired' | 'unknown' | Error): undefined {
    this.#end ??= why;
    this.#stop.abort();
  }

  #told(): void {
    const { history, key, viewed } = this.#parts;
    if (this.#lines.version === undefined) return;
    // In a partial scope the client hears nothing of some namespaces and has an older state there. So no watch may go on from its versions.
    history.told(key, viewed.isPartial ? viewed.scope.id : viewed.viewId, this.#lines.version);
  }

  #checkLater(): void {
    if (!this.#isOver) this.#cancel = this.#parts.clock.after(CHECK_MS, () => void this.#check());
  }

  async #check(): Promise<void> {
    const { clock, history, key, viewed, currentView } = this.#parts;
    this.#told();
    const now = clock.monotonic();
    try {
      const { scope, viewId } = await currentView();
      history.seen(key, viewId);
      this.#knownAt = clock.monotonic();
      const hasChanged = viewId !== viewed.viewId || scope.id !== viewed.scope.id;
      if (hasChanged || (viewed.isPartial && now - this.#beganAt >= PARTIAL_MS)) return this.#endBy('expired');
    } catch {
      if (clock.monotonic() - this.#knownAt > UNKNOWN_MS) return this.#endBy('unknown');
    }
    this.#checkLater();
    if (!history.needsVersion(key, viewed.viewId)) return;
    const version = await this.#parts.readVersion().catch(() => undefined);
    if (version !== undefined) history.settled(key, viewed.viewId, version);
  }
}
