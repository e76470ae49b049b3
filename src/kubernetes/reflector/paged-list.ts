import type { Clock } from '../../runtime/clock.ts';
import type { Steps, TimeSlices } from '../../runtime/time-slices.ts';
import { ReflectorRequest } from './attempt.ts';
import type { CacheWriter, CompleteList } from './cache-writer.ts';
import type { Failure } from './failure.ts';
import type { ListerWatcher, ListPage, ListVersion } from './lister-watcher.ts';
import type { StoredEntry } from './store.ts';

/** The most objects on a page, the same as kubectl's. */
export const PAGE_SIZE = 500;
/** The size of the first page: nodes of 12 kB make 1.2 MB. */
const FIRST_PAGE_SIZE = 100;
/**
 * A page is parsed in one turn of the event loop. 1 MiB takes 5 ms, or up to 70 ms while V8 marks its heap on a busy
 * machine. 2 MiB took 15 and 135 ms. Half a MiB took up to 55 ms, but doubles the requests for a list of all pods.
 */
const PAGE_BYTES = 1024 * 1024;
/**
 * A page that was too long is requested again with this many times fewer objects: five more requests from 500 down to one.
 */
const FEWER = 4;

export interface Listed<E> extends CompleteList<E> {
  readonly kind: 'listed';
}

export interface PagedListParts<E extends StoredEntry> {
  readonly source: ListerWatcher;
  readonly writer: Pick<CacheWriter<E>, 'toEntry' | 'active'>;
  readonly clock: Clock;
  readonly slices: TimeSlices;
  /** Waits as long as a 429 asks for. */
  pause(failure: Failure): Promise<void>;
}

/**
 * Reads a whole list, page by page, and reduces each page to entries as it arrives. A throttled page is requested
 * again, and a page that is too long is requested with fewer objects; any other failure ends the list. The event loop
 * is free for others between pages, and within long ones.
 */
export async function listInPages<E extends StoredEntry>(
  parts: PagedListParts<E>,
  version: ListVersion,
  signal: AbortSignal,
): Promise<Listed<E> | Failure> {
  const entries: E[] = [];
  let continueToken = '';
  let resourceVersion = '';
  let limit = FIRST_PAGE_SIZE;
  do {
    const page = await onePage(parts, { version, limit, ...(continueToken ? { continueToken } : {}) }, signal);
    if (page.kind === 'throttled') {
      await parts.pause(page);
      continue;
    }
    if (page.kind === 'unreadable' && page.isTooLong && limit > 1) {
      limit = Math.ceil(limit / FEWER);
      continue;
    }
    if (page.kind !== 'page') return page;
    resourceVersion ||= page.resourceVersion;
    continueToken = page.continueToken;
    limit = nextLimit(page);
    await parts.slices.run(reduce(page.items, entries, parts.writer));
    if (continueToken === '') return { kind: 'listed', entries, resourceVersion };
  } while (!signal.aborted);
  return { kind: 'aborted' };
}

/** The number of objects that fit into `PAGE_BYTES` if they are as large as those of this page. */
function nextLimit({ items, bytes = 0 }: ListPage): number {
  if (items.length === 0) return FIRST_PAGE_SIZE;
  return Math.max(1, Math.min(PAGE_SIZE, Math.floor((PAGE_BYTES * items.length) / Math.max(1, bytes))));
}

async function onePage<E extends StoredEntry>(
  { source, writer, clock }: PagedListParts<E>,
  request: Parameters<ListerWatcher['list']>[0],
  signal: AbortSignal,
): Promise<ListPage | Failure> {
  writer.active();
  const attempt = new ReflectorRequest(clock, signal);
  const progress = (): void => {
    attempt.heard();
    writer.active();
  };
  return attempt.finish(await source.list(request, progress, attempt.signal));
}

function* reduce<E extends StoredEntry>(
  items: readonly unknown[],
  into: E[],
  writer: PagedListParts<E>['writer'],
): Steps<void> {
  for (const item of items) {
    const entry = writer.toEntry(item);
    if (entry) into.push(entry);
    yield;
  }
}
