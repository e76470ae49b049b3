import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';
import { ServedKinds } from './api/served-kinds.ts';
import { Collection } from './collection.ts';
import { AggregatedApis } from './custom/aggregated-apis.ts';
import { CustomDefinitions } from './custom/definitions.ts';
import { type Change, Entry } from './entry.ts';
import type { ResourceKind } from './kinds.ts';
import { isRecord, type KubeObject, keyOf, type NewObject } from './kube-object.ts';
import { mergePatch } from './merge-patch.ts';
import { uuidFrom } from './seeded-random.ts';
import { alreadyExists, conflict, notFound, OUTDATED } from './status.ts';
import { timestamp } from './timestamp.ts';

/**
 * The history that is kept without an explicit compaction: enough for 5,000 changes a second for 30 s, and a population
 * of 155,000.
 */
const HISTORY_LIMIT = 400_000;

/** The commits that are kept, one for each millisecond with a write: enough for the last 4 s. */
const COMMITS_KEPT = 4_000;

export interface StoreParts {
  readonly clock: Clock;
  /** For uids. */
  readonly random: Random;
  /** Default: those of a server for the platform `gatehouse`. */
  readonly kinds?: ServedKinds;
}

interface WriteOptions {
  /** Returns what would be stored, and stores nothing. */
  readonly dryRun?: boolean;
}

/**
 * The state of the server, without HTTP: no access control and no admission, and one write may change status and spec. Kinds are named
 * by `storedAs` (`pods`, `certificates.cert-manager.io`), objects by key (`namespace/name`, or the name of a cluster-scoped object). Callers must not change objects
 * that they got or passed in. Refusals are thrown as `ApiError`.
 */
export class ObjectStore {
  /** What does the work of controllers on definitions and APIServices. */
  readonly definitions: CustomDefinitions;
  readonly aggregatedApis: AggregatedApis;
  readonly #kinds: ServedKinds;
  readonly #collections: Map<string, Collection>;
  readonly #clock: Clock;
  readonly #random: Random;
  #revision = 1;
  #compacted = 1;
  /** The newest version at the end of each millisecond in which something was written. */
  #commits: { readonly at: number; readonly revision: number }[] = [];

  constructor({ clock, random, kinds = new ServedKinds('gatehouse') }: StoreParts) {
    this.#kinds = kinds;
    this.#collections = collectionsOf(kinds.stored);
    this.#clock = clock;
    this.#random = random;
    const parts = { store: this, kinds, clock };
    this.definitions = new CustomDefinitions(parts);
    this.aggregatedApis = new AggregatedApis(parts);
  }

  /** The one version counter of all kinds. */
  get revision(): number {
    return this.#revision;
  }

  /** The oldest version that can still be listed or watched from. */
  get compactedRevision(): number {
    return this.#compacted;
  }

  /** The newest version as clients see it. */
  get resourceVersion(): string {
    return String(this.#revision);
  }

  /** The version that was the newest at this time of the monotonic clock. It is known for the last seconds. */
  revisionAt(monotonicMs: number): number {
    const known = this.#commits.findLast(({ at }) => at <= monotonicMs)?.revision ?? this.#compacted;
    return Math.max(this.#compacted, known);
  }

  collection(plural: string): Collection {
    const known = this.#collections.get(plural);
    if (known) return known;
    const kind = this.#kinds.stored.find(({ storedAs }) => storedAs === plural);
    if (!kind) throw new TypeError(`the simulated cluster has no kind "${plural}"`);
    const collection = new Collection(kind);
    this.#collections.set(plural, collection);
    return collection;
  }

  get(plural: string, key: string): KubeObject | undefined {
    return this.collection(plural).get(key)?.object;
  }

  /** In key order. */
  list(plural: string): readonly KubeObject[] {
    return this.collection(plural)
      .ordered()
      .map((entry) => entry.object);
  }

  /** A given `creationTimestamp` or `uid` is kept, so that a population can have a past. */
  create(plural: string, object: NewObject, options?: WriteOptions): KubeObject {
    const collection = this.collection(plural);
    const key = keyOf(object.metadata);
    const there = collection.get(key)?.object.metadata;
    if (there) throw alreadyExists(collection.kind, there.name, there['deletionTimestamp'] !== undefined);
    const metadata = {
      ...object.metadata,
      uid: object.metadata.uid ?? uuidFrom(this.#random),
      creationTimestamp: object.metadata.creationTimestamp ?? timestamp(this.#clock.now()),
    };
    const next = { ...object, metadata };
    if (options?.dryRun) return normalize(next) as KubeObject;
    return this.#commit(collection, { type: 'ADDED', object: next, previous: undefined });
  }

  /** Replaces the object. A `resourceVersion` or `uid` in its metadata must be the stored one. Equal content writes nothing. */
  update(plural: string, object: NewObject, options?: WriteOptions): KubeObject {
    const collection = this.collection(plural);
    const previous = this.checkCurrent(plural, object);
    const stored = previous.object.metadata;
    const { uid: keptUid, creationTimestamp } = stored;
    const metadata = { ...object.metadata, uid: keptUid, creationTimestamp, resourceVersion: stored.resourceVersion };
    const next = { ...object, metadata };
    if (isDeepStrictEqual(normalize(next), previous.object)) return previous.object;
    if (options?.dryRun) return normalize(next) as KubeObject;
    return this.#commit(collection, { type: 'MODIFIED', object: next, previous });
  }

  /** Returns the stored entry of `object`. Throws a conflict if `object` has another `resourceVersion` or `uid`. */
  checkCurrent(plural: string, { metadata }: NewObject): Entry {
    const { kind } = this.collection(plural);
    const entry = this.#stored(this.collection(plural), keyOf(metadata));
    const stored = entry.object.metadata;
    const { resourceVersion, uid } = metadata;
    if (uid && uid !== stored.uid) throw conflict(kind, stored.name, uidMismatch(uid, stored.uid));
    if (resourceVersion && resourceVersion !== stored.resourceVersion) throw conflict(kind, stored.name, OUTDATED);
    return entry;
  }

  /** JSON merge patch (RFC 7396) on the whole object. */
  patch(plural: string, key: string, patch: object): KubeObject {
    const { object } = this.#stored(this.collection(plural), key);
    return this.update(plural, mergePatch(object, patch) as NewObject);
  }

  /** Returns the last state of the object, with the version of its deletion. */
  remove(plural: string, key: string, options?: WriteOptions): KubeObject {
    const collection = this.collection(plural);
    const previous = this.#stored(collection, key);
    if (options?.dryRun) return previous.object;
    return this.#commit(collection, { type: 'DELETED', object: previous.object, previous });
  }

  /** Forgets the history: every older version is expired. */
  compact(revision = this.#revision): void {
    this.#compacted = Math.max(this.#compacted, revision);
    for (const collection of this.#collections.values()) collection.compact(this.#compacted);
  }

  /** Goes back to an older version, and so does the version counter. Open watches do not notice; see `SimulatedCluster.restore`. */
  restore(revision: number): void {
    if (!(revision >= this.#compacted && revision <= this.#revision))
      throw new RangeError(`version ${revision} is not in the history ${this.#compacted}..${this.#revision}`);
    for (const collection of this.#collections.values()) collection.restore(revision);
    this.#commits = this.#commits.filter((commit) => commit.revision <= revision);
    this.#revision = revision;
    this.definitions.refresh();
    this.aggregatedApis.refresh();
  }

  #stored(collection: Collection, key: string): Entry {
    const entry = collection.get(key);
    if (!entry) throw notFound(collection.kind, key.slice(key.indexOf('/') + 1));
    return entry;
  }

  #commit(collection: Collection, write: Pick<Change, 'type' | 'previous'> & { object: NewObject }): KubeObject {
    const revision = ++this.#revision;
    const content = normalize(write.object);
    const metadata = { ...content.metadata, resourceVersion: String(revision) };
    const entry = new Entry(keyOf(metadata), revision, { ...content, metadata } as KubeObject);
    const change = { type: write.type, revision, entry, previous: write.previous };
    collection.apply(change);
    this.#note(revision);
    if (revision - this.#compacted > HISTORY_LIMIT) this.compact(revision - HISTORY_LIMIT / 2);
    for (const extension of [this.definitions, this.aggregatedApis])
      if (extension.watched === collection.kind.name) extension.committed(change);
    return entry.object;
  }

  #note(revision: number): void {
    const at = Math.floor(this.#clock.monotonic());
    if (this.#commits.at(-1)?.at === at) this.#commits.pop();
    this.#commits.push({ at, revision });
    if (this.#commits.length > 2 * COMMITS_KEPT) this.#commits = this.#commits.slice(-COMMITS_KEPT);
  }
}

/** The first kind that is stored under a name describes the collection. */
const collectionsOf = (kinds: readonly ResourceKind[]): Map<string, Collection> =>
  new Map(kinds.toReversed().map((kind) => [kind.storedAs, new Collection(kind)] as const));

/** The message for a write that names another uid than the stored one. */
export const uidMismatch = (wanted: string, stored: string): string =>
  `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${stored}`;

/** Drops the members that the store does not keep: the type, and the write-only `stringData` of a Secret. */
function normalize(object: NewObject): NewObject {
  const { kind: _kind, apiVersion: _apiVersion, stringData, metadata, ...rest } = object;
  if (!isRecord(stringData)) return { metadata, ...rest };
  const encoded = Object.entries(stringData).map(([name, value]) => [
    name,
    Buffer.from(String(value)).toString('base64'),
  ]);
  const data = isRecord(rest['data']) ? rest['data'] : {};
  return { metadata, ...rest, data: { ...data, ...Object.fromEntries(encoded) } };
}
