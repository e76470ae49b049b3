import { effect, signal } from '@preact/signals';
import { BackOff } from './back-off.ts';
import { openWatch } from './open-watch.ts';
import { pause } from './pause.ts';
import { hasStream, isVisible } from './stream-turn.ts';

/** How often a page without the stream asks. */
const POLL_MS = 10_000;

/** How often a page with the stream asks although nothing was told: the answer says how old the data is. */
const CHECK_MS = 30_000;

/** How many lists are followed by a stream, or would be if this page had it. */
export const followed = signal(0);

type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface Change {
  readonly type: ChangeType;
  /** The uid of the object. */
  readonly uid: string;
  /** The version of the object with this change (`resourceVersion`). */
  readonly version: string;
}

export interface ChangeListener {
  /** Something may have changed that was not told: read again. */
  onUnknown(): void;
  onChanges(changes: readonly Change[]): void;
  /** Whether changes come as they happen. */
  onLive(isLive: boolean): void;
}

interface Watched {
  readonly path: string;
  /** The filters of the list, without order and page. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The API has no watch of this list. */
  readonly isPolled: boolean;
}

interface WatchEvent {
  readonly type: ChangeType | 'BOOKMARK' | 'ERROR';
  readonly object?: {
    readonly metadata?: { readonly uid?: string; readonly resourceVersion?: string };
    readonly code?: number;
  };
}

/**
 * Follows the changes of a list until the returned function is called: by the stream while this page has it, otherwise, and where there is no
 * watch, by a question now and then. Nothing is asked while nobody sees the page.
 */
export function followChanges(watched: Watched, listener: ChangeListener): () => void {
  if (!watched.isPolled) followed.value = followed.peek() + 1;
  const end = effect(() => {
    if (hasStream.value && !watched.isPolled) return stream(watched, listener);
    return isVisible.value ? poll(listener) : undefined;
  });
  return () => {
    end();
    if (!watched.isPolled) followed.value = followed.peek() - 1;
  };
}

function poll({ onUnknown }: ChangeListener): () => void {
  const timer = setInterval(onUnknown, POLL_MS);
  return () => clearInterval(timer);
}

function check({ onUnknown }: ChangeListener): () => void {
  const timer = setInterval(() => {
    if (isVisible.value) onUnknown();
  }, CHECK_MS);
  return () => clearInterval(timer);
}

function stream(watched: Watched, listener: ChangeListener): () => void {
  const stop = new AbortController();
  const endChecks = check(listener);
  void streamUntil(watched, listener, stop.signal);
  return () => {
    endChecks();
    stop.abort();
    listener.onLive(false);
  };
}

async function streamUntil(watched: Watched, listener: ChangeListener, signal: AbortSignal): Promise<void> {
  const backOff = new BackOff();
  while (!signal.aborted) {
    const wait = await streamOnce(watched, listener, backOff, signal);
    listener.onLive(false);
    await pause(wait, signal);
    if (!signal.aborted) listener.onUnknown();
  }
}

/** One stream from now on, to its end. Resolves to the time to wait before the next one. */
async function streamOnce(
  { path, parameters }: Watched,
  listener: ChangeListener,
  backOff: BackOff,
  signal: AbortSignal,
): Promise<number> {
  try {
    const watch = await openWatch(path, parameters, signal);
    // Without the right to watch, or with too many streams, it is asked as by a page without the stream.
    if ('refusal' in watch) return Math.max(POLL_MS, backOff.failed(watch.refusal.retryAfterSeconds));
    listener.onLive(true);
    listener.onUnknown(); // what changed between the list and the stream
    for await (const lines of watch.lines) {
      if (!take(lines, listener)) return backOff.failed();
      backOff.succeeded();
    }
    return backOff.failed();
  } catch {
    return backOff.failed();
  }
}

/** Tells the listener about these events. Returns false if the stream is at its end. */
function take(lines: readonly string[], listener: ChangeListener): boolean {
  const changes: Change[] = [];
  for (const line of lines) {
    const { type, object } = JSON.parse(line) as WatchEvent;
    if (type === 'ERROR') return false;
    if (type !== 'BOOKMARK')
      changes.push({ type, uid: object?.metadata?.uid ?? '', version: object?.metadata?.resourceVersion ?? '' });
  }
  if (changes.length > 0) listener.onChanges(changes);
  return true;
}
