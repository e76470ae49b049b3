import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ReflectedStore, Replacement } from '../../kubernetes/reflector/store.ts';
import type { Steps, TimeSlices } from '../../runtime/time-slices.ts';
import { valueOrdersOf } from '../query/list-query.ts';
import { placeOf } from '../query/within.ts';
import { sharingTexts } from './change.ts';
import { ChangeLog, type PreparedChange } from './change-log.ts';
import type { ListState } from './collection-version.ts';
import { type Entry, toEntry } from './entry.ts';
import type { Aside, DecoratedStore, Decoration, Kind } from './kind.ts';
import { KeptCounts } from './leaf-counts.ts';
import { draftOf, type ListDraft } from './list-draft.ts';
import { ListProgress } from './list-progress.ts';
import { Content } from './ordered-index.ts';
import { Siblings } from './siblings.ts';
import { Snapshot } from './snapshot.ts';

interface Redecorated {
  readonly entry: Entry;
  readonly change: PreparedChange;
}

/**
 * The objects of a kind in all its orders. Added annotations are written into the entries when a snapshot is taken. So each
 * entry is written once for any number of changes since the last snapshot.
 */
export class ResourceStore implements ReflectedStore<Entry> {
  readonly kind: Kind;
  /** The last change of each object. */
  readonly changes: ChangeLog;
  readonly progress: ListProgress;
  /** Runs all long work on the entries. */
  readonly slices: TimeSlices;
  readonly #decoration: Decoration | undefined;
  readonly #siblings = new Siblings();
  readonly #counts: KeptCounts;
  #content: Content;
  /** The copy in which the decoration is making many changes. Changes from the cluster go into it as well. */
  #aside: Content | undefined;
  #isReplacing = false;
  #version = 0;
  #snapshot: Snapshot | undefined;

  constructor(kind: Kind, slices: TimeSlices) {
    this.kind = kind;
    this.slices = slices;
    this.changes = new ChangeLog(kind);
    this.#counts = new KeptCounts(placeOf(kind));
    this.#content = new Content({ orders: valueOrdersOf(kind.sortWords), isPacked: kind.isPacked ?? false });
    this.#decoration = kind.decorate?.(this.#decorated());
    this.progress = new ListProgress(this.changes, this.#decoration?.progress);
    this.progress.objects.countIn(() => this.#content.entries());
  }

  get size(): number {
    return this.#content.size;
  }

  toEntry(object: KubernetesObject): Entry {
    return this.#siblings.sharing(toEntry(object, this.kind));
  }

  get(key: string): Entry | undefined {
    return this.#content.get(key);
  }

  /** Adds or replaces an object. The progress moves first, because the change log records it with the change. */
  put(entry: Entry): void {
    const replaced = this.#content.get(entry.key)?.resourceVersion;
    this.progress.objects.advance(entry.resourceVersion, this.size + (replaced === undefined ? 1 : 0), replaced);
    const updated = this.#finished(entry);
    this.#aside?.put(updated);
    this.#put(updated, entry.resourceVersion);
  }

  remove(key: string, resourceVersion: string): void {
    const entry = this.#content.get(key);
    this.progress.objects.advance(resourceVersion, this.size - (entry ? 1 : 0), entry?.resourceVersion);
    if (!entry) return;
    this.#aside?.remove(key);
    this.#content.remove(key);
    this.progress.forget(key);
    const change = this.changes.prepareRemoval(entry, resourceVersion);
    if (change) this.#add(change, this.progress.seen);
  }

  /**
   * Prepares a list; the returned function shows it. Objects that did not change keep their leaves, with the bytes cached
   * there, and cause no event for watchers. Annotations that change meanwhile are written afterwards.
   */
  *prepare(entries: readonly Entry[], replacement: Replacement): Steps<() => void> {
    this.#decoration?.giveUp();
    this.#isReplacing = true;
    try {
      const { changes, progress } = this;
      const finish = (entry: Entry): Entry => this.#finished(entry);
      const draft = yield* draftOf({ entries, replacement }, { content: this.#content, changes, progress, finish });
      return () => this.#showList(draft);
    } finally {
      this.#isReplacing = false;
    }
  }

  /** The keys of the objects in these namespaces. In the list of namespaces itself: of those with these names. */
  keysIn(names: ReadonlySet<string>): readonly string[] {
    if (!this.kind.namespaced) return [...names].filter((name) => this.#content.get(name));
    return this.#content.byNamespace.in(names).map(({ key }) => key);
  }

  entries(): readonly Entry[] {
    return [...this.#content.entries()];
  }

  /** All objects as they are now, with the added annotations. Returns the same snapshot while nothing changes. */
  snapshot(): Snapshot {
    this.decorate();
    this.#snapshot ??= new Snapshot(this.#version, {
      byCreation: this.#content.byCreation.leaves,
      byName: this.#content.byName.leaves,
      namespaced: this.kind.namespaced,
      byNamespace: this.#content.byNamespace,
      counts: this.#counts,
      byValue: new Map([...this.#content.byValue].map(([order, { leaves }]) => [order, leaves])),
    });
    return this.#snapshot;
  }

  /** Brings the added annotations up to date. A list shows a large change whole or not at all: it is made in a copy. */
  decorate(): void {
    if (!this.#isReplacing) this.#decoration?.refresh();
  }

  /** Whether at most a few changes of added annotations are missing in the entries. */
  get isDecorated(): boolean {
    return !this.#isReplacing && (this.#decoration?.isCurrent ?? true);
  }

  /** Grows with every change. A snapshot may get a later version, because annotations are written when it is taken. */
  get version(): number {
    return this.#version;
  }

  /** The value of `gatehouse_cache_bytes`. */
  heldBytes(): number {
    return this.#content.byCreation.leaves.reduce((sum, leaf) => sum + leaf.heldBytes, 0);
  }

  /** Makes a new version of the same objects, so that answers are composed again. */
  renew(): void {
    this.#advance();
  }

  #decorated(): DecoratedStore {
    return {
      run: (steps) => void this.slices.run(steps),
      get: (key) => this.#content.get(key),
      redecorate: (entry) => this.#put(entry, undefined),
      aside: () => this.#beginAside(),
    };
  }

  #beginAside(): Aside {
    const content = this.#content.copy();
    const made: Redecorated[] = [];
    this.#aside = content;
    const drop = (): void => {
      if (this.#aside === content) this.#aside = undefined;
    };
    return {
      get: (key) => content.get(key),
      redecorate: (entry) => {
        const change = this.changes.prepare(entry, content.get(entry.key), undefined);
        content.put(entry);
        made.push({ entry, change });
      },
      drop,
      show: () => {
        drop();
        // An entry that the cluster changed meanwhile is already in the copy, and its change is already in the log.
        const { seen } = this.progress;
        for (const { entry, change } of made) if (content.get(entry.key) === entry) this.#add(change, seen);
        this.#content = content;
      },
    };
  }

  /** Returns the entry with its present annotations. It shares equal texts with the entry that it replaces. */
  #finished(entry: Entry): Entry {
    const decorated = this.#decoration?.decorate(entry) ?? entry;
    const previous = this.#content.get(entry.key);
    return previous ? sharingTexts(previous, decorated, this.kind) : decorated;
  }

  #put(entry: Entry, changedAt: string | undefined): void {
    const previous = this.#content.get(entry.key);
    this.#content.put(entry);
    this.progress.brought(entry, previous);
    this.#add(this.changes.prepare(entry, previous, changedAt), this.progress.seen);
  }

  #showList({ content, list, gone, changes, added }: ListDraft): void {
    this.progress.objects.listed(list);
    for (const { key } of gone) this.progress.forget(key);
    for (const [key, version] of added) this.progress.changed(key, version);
    const { seen } = this.progress;
    this.changes.begin(changes);
    for (const change of changes.changes) this.#add(change, seen);
    this.#content = content;
  }

  #add(change: PreparedChange, seen: ListState): void {
    this.#advance();
    this.changes.add(change, { version: this.#version, seen });
  }

  #advance(): void {
    this.#version++;
    this.#snapshot = undefined;
  }
}
