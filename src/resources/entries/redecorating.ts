import type { Steps } from '../../runtime/time-slices.ts';
import type { Entry } from './entry.ts';
import type { Aside, DecoratedStore, Decoration } from './kind.ts';
import type { AddedProgress } from './list-progress.ts';

/** Changes that `take` returned. `Redecorating` writes them into every entry that they concern. */
interface Taken {
  /** The keys of the entries that may have to change. */
  readonly names: { readonly size: number; keys(): Iterable<string> };
}

/** The annotations that one kind adds to its entries, and their changes that no list shows yet. */
export interface Additions<Changes extends Taken> {
  /** See `Decoration`. */
  readonly progress?: AddedProgress;
  /** How many entries may not show a change yet. */
  readonly changedCount: number;
  /** See `Decoration`. */
  decorate(entry: Entry): Entry;
  /** The changes since the last call. */
  take(): Changes;
  /** Takes changes back that no list shows, because the copy in which they were made was dropped. */
  giveBack(changes: Changes): void;
  /** Called before the first of many changes is made in a copy. */
  aside?(changes: Changes): void;
  /** Called before an entry gets its part of the changes, in the store or in a copy of it. */
  writes?(key: string, changes: Changes, isAside: boolean): void;
  /** Called right before the store shows the changes, all of them in the same step. */
  shown?(changes: Changes): void;
}

/** If more entries changed, they are brought up to date in a copy, in slices of time. 300 entries take some 3 ms. */
const MOST_AT_ONCE = 300;

/**
 * Writes changed annotations into the entries of a store. A list shows all changes of one moment or none of them. A few are
 * written in one step; many are written in a copy, which the store shows when it is complete.
 */
export class Redecorating<Changes extends Taken> implements Decoration {
  readonly progress?: AddedProgress;
  readonly #additions: Additions<Changes>;
  readonly #store: DecoratedStore;
  readonly #mostAtOnce: number;
  /** The changes that are being made in a copy. */
  #underWay: { readonly changes: Changes; readonly aside: Aside } | undefined;

  constructor(additions: Additions<Changes>, store: DecoratedStore, mostAtOnce = MOST_AT_ONCE) {
    if (additions.progress) this.progress = additions.progress;
    this.#additions = additions;
    this.#store = store;
    this.#mostAtOnce = mostAtOnce;
  }

  get isCurrent(): boolean {
    return !this.#underWay && this.#additions.changedCount <= this.#mostAtOnce;
  }

  decorate(entry: Entry): Entry {
    return this.#additions.decorate(entry);
  }

  refresh(): void {
    if (this.#underWay) return;
    const changes = this.#additions.take();
    if (changes.names.size > this.#mostAtOnce) {
      this.#underWay = { changes, aside: this.#store.aside() };
      this.#additions.aside?.(changes);
      this.#store.run(this.#writeAside(this.#underWay));
    } else {
      this.#additions.shown?.(changes);
      for (const key of changes.names.keys()) this.#write(key, changes, this.#store);
    }
  }

  giveUp(): void {
    if (!this.#underWay) return;
    const { changes, aside } = this.#underWay;
    this.#underWay = undefined;
    aside.drop();
    this.#additions.giveBack(changes);
  }

  *#writeAside(underWay: { readonly changes: Changes; readonly aside: Aside }): Steps<void> {
    const { changes, aside } = underWay;
    for (const key of changes.names.keys()) {
      this.#write(key, changes, aside);
      yield;
      if (this.#underWay !== underWay) return;
    }
    this.#underWay = undefined;
    this.#additions.shown?.(changes);
    aside.show();
  }

  #write(key: string, changes: Changes, content: Pick<Aside, 'get' | 'redecorate'>): void {
    const entry = content.get(key);
    if (!entry) return;
    this.#additions.writes?.(key, changes, content !== this.#store);
    const decorated = this.decorate(entry);
    if (decorated !== entry) content.redecorate(decorated);
  }
}
