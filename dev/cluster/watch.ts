import type { Clock } from '../../src/clock.ts';
import type { Collection } from './collection.ts';
import type { Change, Entry } from './entry.ts';
import type { Form } from './form.ts';
import type { KubeObject } from './kube-object.ts';
import type { ListOptions } from './list-options.ts';
import type { ObjectStore } from './object-store.ts';
import { expired, tooLargeResourceVersion } from './status.ts';

interface WatchRequest {
  readonly collection: Collection;
  /** Empty: all namespaces. */
  readonly namespace: string;
  readonly options: ListOptions;
  readonly form: Form;
}

interface WatchParts {
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** 0: never. */
  readonly bookmarkIntervalMs: number;
}

/** A real server sends one bookmark this long before the time-out that the client asked for. */
const BOOKMARK_BEFORE_END_MS = 2_000;
/** `--min-request-timeout` of a real server: how long a watch lives that names no `timeoutSeconds`. */
const DEFAULT_TIMEOUT_MS = 1_800_000;
const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' };

/** Lines of one watch, newline included. Ends at its time-out, after an ERROR event, or when `signal` aborts. */
export async function* watchLines(
  request: WatchRequest,
  parts: WatchParts,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const start = begin(request, parts.store);
  if (typeof start === 'string') {
    yield start;
    return;
  }
  const feed = openFeed(request, parts, signal);
  try {
    for (const entry of start.initial) yield line('ADDED', request.form.object(entry));
    if (start.endsWithBookmark) yield line('BOOKMARK', request.form.bookmark(start.revision, INITIAL_EVENTS_END));
    for (const change of start.missed) yield* lineOf(change, request);
    yield* feed.lines();
  } finally {
    feed.close();
  }
}

interface Start {
  readonly revision: number;
  /** State sent as ADDED events before anything else. */
  readonly initial: readonly Entry[];
  readonly endsWithBookmark: boolean;
  /** Changes since the version that the client has. */
  readonly missed: readonly Change[];
}

/** Reads state and history in one synchronous step; a string is the ERROR event that answers instead. */
function begin({ collection, namespace, options }: WatchRequest, store: ObjectStore): Start | string {
  const { revision: wanted = 0, sendInitialEvents } = options;
  const current = store.revision;
  const selected = (entry: Entry): boolean => inNamespace(entry, namespace) && options.selects(entry.object);
  if (sendInitialEvents ?? wanted === 0) {
    if (wanted > current) return errorLine(tooLargeResourceVersion(String(wanted), String(current)).status);
    const endsWithBookmark = sendInitialEvents === true && options.allowBookmarks;
    return { revision: current, initial: collection.ordered().filter(selected), endsWithBookmark, missed: [] };
  }
  if (wanted !== 0 && wanted < store.compactedRevision)
    return errorLine(expired(`too old resource version: ${wanted} (${store.compactedRevision})`).status);
  const missed = wanted === 0 ? [] : collection.changesAfter(wanted);
  return { revision: current, initial: [], endsWithBookmark: false, missed };
}

/** Live changes and bookmarks, queued until the reader takes them. */
function openFeed(request: WatchRequest, { store, clock, bookmarkIntervalMs }: WatchParts, signal: AbortSignal) {
  const { collection, options, form } = request;
  const pending: (Change | { readonly bookmarkAt: number })[] = [];
  let ended = signal.aborted;
  let wake: () => void = () => {};
  const push = (item: (typeof pending)[number]): void => {
    pending.push(item);
    wake();
  };
  const end = (): void => {
    ended = true;
    wake();
  };
  const cancels = new Set([collection.subscribe(push)]);
  const later = (ms: number, run: () => void): void => {
    const cancel = clock.after(ms, () => {
      cancels.delete(cancel);
      run();
    });
    cancels.add(cancel);
  };
  const bookmark = (): void => push({ bookmarkAt: store.revision });
  const bookmarkRepeatedly = (): void =>
    later(bookmarkIntervalMs, () => {
      bookmark();
      bookmarkRepeatedly();
    });
  const timeoutMs = options.timeoutSeconds > 0 ? options.timeoutSeconds * 1000 : DEFAULT_TIMEOUT_MS;
  if (options.allowBookmarks && bookmarkIntervalMs > 0) {
    bookmarkRepeatedly();
    if (timeoutMs > BOOKMARK_BEFORE_END_MS) later(timeoutMs - BOOKMARK_BEFORE_END_MS, bookmark);
  }
  later(timeoutMs, end);
  signal.addEventListener('abort', end, { once: true });
  async function* lines(): AsyncGenerator<string, void, undefined> {
    while (!ended || pending.length > 0) {
      for (const item of pending.splice(0)) {
        if ('bookmarkAt' in item) yield line('BOOKMARK', form.bookmark(item.bookmarkAt, undefined));
        else yield* lineOf(item, request);
      }
      if (!ended && pending.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const close = (): void => {
    signal.removeEventListener('abort', end);
    for (const cancel of cancels) cancel();
  };
  return { lines, close };
}

/** What a change means to this watcher: an object that begins or ceases to match arrives as ADDED or DELETED. */
function* lineOf(change: Change, { namespace, options, form }: WatchRequest): Generator<string, void, undefined> {
  const { entry, previous, revision } = change;
  if (!inNamespace(entry, namespace)) return;
  const matches = (object: KubeObject | undefined): boolean => object !== undefined && options.selects(object);
  const before = matches(previous?.object);
  const after = change.type !== 'DELETED' && matches(entry.object);
  if (after) yield line(before ? 'MODIFIED' : 'ADDED', form.object(entry));
  else if (before && previous) yield line('DELETED', form.object(previous.at(revision)));
}

const inNamespace = (entry: Entry, namespace: string): boolean =>
  namespace === '' || entry.object.metadata.namespace === namespace;

const line = (type: string, object: string): string => `{"type":"${type}","object":${object}}\n`;

/** The line of an ERROR event. */
export const errorLine = (status: object): string => line('ERROR', JSON.stringify(status));
