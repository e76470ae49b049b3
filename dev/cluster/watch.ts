import type { Clock } from '../../src/runtime/clock.ts';
import type { Collection } from './collection.ts';
import type { Change, Entry } from './entry.ts';
import type { Form } from './form.ts';
import type { KubeObject } from './kube-object.ts';
import type { ListOptions } from './list-options.ts';
import type { ObjectStore } from './object-store.ts';
import { expired, tooLargeResourceVersion } from './status.ts';
import type { WatchCache } from './watch-cache.ts';
import { type FeedItem, WatchFeed } from './watch-feed.ts';

interface WatchRequest {
  readonly collection: Collection;
  /** Empty: all namespaces. */
  readonly namespace: string;
  readonly options: ListOptions;
  readonly form: Form;
}

interface WatchParts {
  readonly store: ObjectStore;
  readonly watchCache: WatchCache;
  readonly clock: Clock;
  /** 0: never. */
  readonly bookmarkIntervalMs: number;
}

/** `--min-request-timeout` of a real server: the lifetime of a watch that names no `timeoutSeconds`. */
const DEFAULT_TIMEOUT_MS = 1_800_000;
const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' };

/** Lines of one watch, newline included. Ends at its time-out, after an ERROR event, or when `signal` aborts. */
export async function* watchLines(
  request: WatchRequest,
  parts: WatchParts,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const start = begin(request, parts);
  if (typeof start === 'string') {
    yield start;
    return;
  }
  const feed = openFeed(request, parts, signal);
  try {
    for (const entry of start.initial) yield line('ADDED', request.form.object(entry));
    if (start.endsWithBookmark) yield line('BOOKMARK', request.form.bookmark(start.revision, INITIAL_EVENTS_END));
    for (const change of start.missed) yield* lineOf(change, request);
    for await (const item of feed.items()) if (isLater(item, start.after)) yield* linesOf(item, request);
  } finally {
    feed.close();
  }
}

interface Start {
  readonly revision: number;
  /** The version that the client has. If the server has not reached it yet, the watch is silent until then. */
  readonly after: number;
  /** State sent as ADDED events before anything else. */
  readonly initial: readonly Entry[];
  readonly endsWithBookmark: boolean;
  /** Changes since the version that the client has. */
  readonly missed: readonly Change[];
}

/** Reads state and history in one synchronous step. Returns a string if the watch cannot begin: the ERROR event to send instead. */
function begin({ collection, namespace, options }: WatchRequest, { store, watchCache }: WatchParts): Start | string {
  const { revision: wanted = 0, sendInitialEvents } = options;
  const current = store.revision;
  const selected = (entry: Entry): boolean => inNamespace(entry, namespace) && options.selects(entry.object);
  if (sendInitialEvents ?? wanted === 0) {
    if (wanted > current) return errorLine(tooLargeResourceVersion(String(wanted), String(current)).status);
    const endsWithBookmark = sendInitialEvents === true && options.allowBookmarks;
    // At version 0 the state comes from the watch cache. The changes that the cache has not seen yet follow as events.
    const revision = options.revision === 0 ? watchCache.revision() : current;
    const entries = revision === current ? collection.ordered() : collection.at(revision);
    const missed = collection.changesAfter(revision);
    return { revision, after: 0, initial: entries.filter(selected), endsWithBookmark, missed };
  }
  if (wanted !== 0 && wanted < store.compactedRevision)
    return errorLine(expired(`too old resource version: ${wanted} (${store.compactedRevision})`).status);
  const missed = wanted === 0 ? [] : collection.changesAfter(wanted);
  return { revision: current, after: wanted, initial: [], endsWithBookmark: false, missed };
}

function openFeed({ collection, options }: WatchRequest, parts: WatchParts, signal: AbortSignal): WatchFeed {
  const { store, clock, bookmarkIntervalMs } = parts;
  const feed = {
    clock,
    timeoutMs: options.timeoutSeconds > 0 ? options.timeoutSeconds * 1000 : DEFAULT_TIMEOUT_MS,
    bookmarkIntervalMs: options.allowBookmarks ? bookmarkIntervalMs : 0,
    revision: () => store.revision,
  };
  return new WatchFeed(collection, feed, signal);
}

const isLater = (item: FeedItem, after: number): boolean =>
  'bookmarkAt' in item ? item.bookmarkAt >= after : item.revision > after;

function* linesOf(item: FeedItem, request: WatchRequest): Generator<string, void, undefined> {
  if ('bookmarkAt' in item) yield line('BOOKMARK', request.form.bookmark(item.bookmarkAt, undefined));
  else yield* lineOf(item, request);
}

/**
 * The event that this watcher gets for a change. An object that begins or ceases to match arrives as ADDED or DELETED.
 */
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

const errorLine = (status: object): string => line('ERROR', JSON.stringify(status));
