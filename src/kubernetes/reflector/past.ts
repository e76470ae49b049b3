import { type Clock, withTimeLimit } from '../../runtime/clock.ts';
import type { TimeSlices } from '../../runtime/time-slices.ts';
import { compareResourceVersions, isKubernetesObject, keyOf } from '../object.ts';
import { toStatus } from '../status.ts';
import { ReflectorRequest } from './attempt.ts';
import type { CacheWriter, Past, PastChange } from './cache-writer.ts';
import { type Failure, failureOfErrorEvent } from './failure.ts';
import type { ListerWatcher, ListPage, WatchEvent, WatchSink } from './lister-watcher.ts';
import { type Listed, listInPages, PAGE_SIZE } from './paged-list.ts';
import type { StoredEntry } from './store.ts';

/** The version from which a mirror should know the changes, and where it reads them. */
export interface PastSource {
  readonly since: string;
  /** Its watch is not that of the mirror, so nobody else follows it. */
  readonly source: ListerWatcher;
}

export interface PastParts<E extends StoredEntry> extends PastSource {
  readonly writer: Pick<CacheWriter<E>, 'toEntry' | 'active' | 'isMalformed' | 'bytesOf'>;
  readonly clock: Clock;
  readonly slices: TimeSlices;
}

/** The past costs the cluster a second list and reads an old version, so only collections of up to so many objects have one. */
const MOST_OBJECTS = 10_000;
const MOST_CHANGES = 1_500;
/** Of all changes together, which are in memory beside the list: 1,500 pods of 4 kB. */
const MOST_CHANGED_BYTES = 8 * 1024 * 1024;
/** For all of it. The first request of a kind waits for ten seconds, and the list in the usual way has to fit in as well. */
const LIMIT_MS = 4_000;
/**
 * Clients that lost their watches together come back with versions that differ a little, and the first one decides where the past begins.
 * A version counts the writes to the cluster's storage; in a busy cluster that many are about a second.
 */
const SLACK = 500n;

const GIVEN_UP: Failure = { kind: 'unsupported', detail: 'the past cannot be read' };
const TOO_LONG: Failure = { kind: 'expired', detail: 'the past has too many changes' };
const COMPLETE: Failure = { kind: 'closed' };

interface ReadPast<E extends StoredEntry> extends Past<E> {
  readonly kind: 'past';
}

/**
 * Reads how the collection was at a version, or a little earlier, and what happened since. A failure if the cluster no longer knows that, or
 * if it is too much; a mirror then begins without a past.
 */
export async function readPast<E extends StoredEntry>(
  parts: PastParts<E>,
  signal: AbortSignal,
): Promise<ReadPast<E> | Failure> {
  const limits = { ms: LIMIT_MS, signals: [signal] };
  return withTimeLimit(parts.clock, limits, (limited) => readInTime(parts, limited));
}

async function readInTime<E extends StoredEntry>(
  parts: PastParts<E>,
  signal: AbortSignal,
): Promise<ReadPast<E> | Failure> {
  const provenAt = parts.clock.monotonic();
  const present = await presentVersions(parts, signal);
  if (!present) return GIVEN_UP;
  // The last one is for a collection that has not changed for long: the cluster has forgotten `since`, and may still know a later version at
  // which the collection was the same.
  const versions = new Set([earlier(parts.since), parts.since, earlier(present.resourceVersion)]);
  let read: Omit<ReadPast<E>, 'provenAt'> | Failure = GIVEN_UP;
  for (const exact of versions) {
    read = await readFrom(parts, { exact, present }, signal);
    if (read.kind !== 'expired') break;
  }
  return read.kind === 'past' ? { ...read, provenAt } : read;
}

/** A little earlier, where versions are numbers. */
function earlier(version: string): string {
  if (!/^\d{1,20}$/.test(version)) return version;
  const at = BigInt(version) - SLACK;
  return at > 0n ? String(at) : '1';
}

async function readFrom<E extends StoredEntry>(
  parts: PastParts<E>,
  { exact, present }: { readonly exact: string; readonly present: PresentList },
  signal: AbortSignal,
): Promise<Omit<ReadPast<E>, 'provenAt'> | Failure> {
  const list = await listAt(parts, exact, signal);
  if (list.kind !== 'listed') return list;
  if (compareResourceVersions(list.resourceVersion, present.resourceVersion) > 0) return GIVEN_UP;
  // What such an object was is not known, so neither is what became of it.
  for (const key of present.identities.keys()) if (parts.writer.isMalformed(key)) return GIVEN_UP;
  const replay = new Replay(list.entries, present.identities, parts.writer);
  const end = replay.isComplete ? COMPLETE : await watchPast(parts, { from: list.resourceVersion, replay }, signal);
  return replay.isComplete ? { kind: 'past', list, changes: replay.changes } : end;
}

async function listAt<E extends StoredEntry>(
  { writer, clock, slices, source }: PastParts<E>,
  exact: string,
  signal: AbortSignal,
): Promise<Listed<E> | Failure> {
  let objects = 0;
  const bounded: ListerWatcher = {
    watch: (...watched) => source.watch(...watched),
    list: async (request, progress, aborted) => {
      const page = await source.list(request, progress, aborted);
      if (page.kind === 'page') objects += page.items.length;
      return objects > MOST_OBJECTS || page.kind === 'throttled' ? GIVEN_UP : page;
    },
  };
  const pause = (): Promise<void> => Promise.resolve(); // never called: a throttled page has become another failure
  return listInPages({ source: bounded, writer, clock, slices, pause }, { exact }, signal);
}

/** What a version of an object is called: two objects of one name may have had the same version before and after a restore. */
const identity = ({ uid, resourceVersion }: Pick<StoredEntry, 'uid' | 'resourceVersion'>): string =>
  `${uid} ${resourceVersion}`;

/** All objects as they are now. */
interface PresentList {
  readonly resourceVersion: string;
  /** By key. */
  readonly identities: ReadonlyMap<string, string>;
}

async function presentVersions<E extends StoredEntry>(
  { source, clock }: PastParts<E>,
  signal: AbortSignal,
): Promise<PresentList | undefined> {
  const identities = new Map<string, string>();
  let next = {};
  do {
    const page = await metadataPage(source, clock, next, signal);
    if (page.kind !== 'page') return undefined;
    for (const item of page.items) {
      if (!isKubernetesObject(item)) return undefined;
      identities.set(keyOf(item), identity(item.metadata));
    }
    if (page.continueToken === '') return { resourceVersion: page.resourceVersion, identities };
    next = { continueToken: page.continueToken };
  } while (identities.size <= MOST_OBJECTS + MOST_CHANGES);
  return undefined;
}

async function metadataPage(
  source: ListerWatcher,
  clock: Clock,
  next: { readonly continueToken?: string },
  signal: AbortSignal,
): Promise<ListPage | Failure> {
  const attempt = new ReflectorRequest(clock, signal);
  const request = { version: '', limit: PAGE_SIZE, metadataOnly: true, ...next } as const;
  return attempt.finish(await source.list(request, attempt.heard, attempt.signal));
}

/** Watches from an old version until the replay is complete, or fails. */
async function watchPast<E extends StoredEntry>(
  { source, clock }: PastParts<E>,
  { from, replay }: { readonly from: string; readonly replay: Replay<E> },
  signal: AbortSignal,
): Promise<Failure> {
  const attempt = new ReflectorRequest(clock, signal);
  const request = { resourceVersion: from, timeoutSeconds: LIMIT_MS / 1_000 };
  return attempt.finish(await source.watch(request, replay, attempt.signal));
}

/**
 * Follows a collection from an old list through its changes until it is what the present one is. From then on, its own watch brings what
 * happened later: the first moment at which both are equal is not later than the present list.
 */
class Replay<E extends StoredEntry> implements WatchSink {
  readonly changes: PastChange<E>[] = [];
  readonly #present: ReadonlyMap<string, string>;
  readonly #writer: PastParts<E>['writer'];
  /** The identities of the objects at this moment of the replay. */
  readonly #now: Map<string, string>;
  /** How many keys are not what they are in the present list. */
  #differing = 0;
  #bytes = 0;

  constructor(before: readonly E[], present: ReadonlyMap<string, string>, writer: PastParts<E>['writer']) {
    this.#present = present;
    this.#writer = writer;
    this.#now = new Map(before.map((entry) => [entry.key, identity(entry)]));
    for (const [key, now] of this.#now) if (present.get(key) !== now) this.#differing++;
    for (const key of present.keys()) if (!this.#now.has(key)) this.#differing++;
  }

  get isComplete(): boolean {
    return this.#differing === 0;
  }

  accepted(): void {}

  bytes(): void {
    this.#writer.active();
  }

  event({ type, object }: WatchEvent): Failure | undefined {
    // Events of the same chunk may still come after the last one that counts.
    if (this.isComplete) return COMPLETE;
    if (type === 'ERROR') return failureOfErrorEvent(toStatus(object, 0));
    if (type === 'BOOKMARK') return undefined;
    if (!isKubernetesObject(object)) return GIVEN_UP;
    const entry = type === 'DELETED' ? undefined : this.#writer.toEntry(object);
    if (!entry && type !== 'DELETED') return GIVEN_UP;
    this.#bytes += entry ? this.#writer.bytesOf(entry) : 0;
    if (this.changes.length === MOST_CHANGES || this.#bytes > MOST_CHANGED_BYTES) return TOO_LONG;
    const key = keyOf(object);
    this.changes.push({ key, resourceVersion: object.metadata.resourceVersion, entry });
    this.#become(key, entry && identity(entry));
    return this.isComplete ? COMPLETE : undefined;
  }

  #become(key: string, now: string | undefined): void {
    const present = this.#present.get(key);
    if (this.#now.get(key) !== present) this.#differing--;
    if (now !== present) this.#differing++;
    if (now === undefined) this.#now.delete(key);
    else this.#now.set(key, now);
  }
}
