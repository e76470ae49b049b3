import type { Shape } from '../query/filter.ts';
import { placeOf, type Within } from '../query/within.ts';
import { CHANGING, namesOnlyIn } from './watch-scope.ts';
import type { WatchView } from './watch-view.ts';

/** A change of rights that the client is being told of. */
interface Rescoping {
  /** The names of which the client may have objects. */
  readonly had: ReadonlySet<string>;
  /** The names of which the client has everything and may still see it. */
  readonly whole: ReadonlySet<string>;
}

/** What one client sees: its filters, and the part of the list that it may see, which changes with its rights. */
export class WatchViews {
  readonly #chosen: WatchView;
  readonly #placeOf: ReturnType<typeof placeOf>;
  #within: Within | undefined;
  #rescoping: Rescoping | undefined;
  #present: WatchView;

  /** `chosen`: what the client asks for. `within`: what it may see of it; absent: everything. */
  constructor(chosen: WatchView, kind: { readonly namespaced: boolean }, within: Within | undefined) {
    this.#chosen = chosen;
    this.#placeOf = placeOf(kind);
    this.#within = within;
    this.#present = within ? this.#viewOf(within, within.id) : chosen;
  }

  get present(): WatchView {
    return this.#present;
  }

  /** Whether the client has not been told of a change of its rights in full. */
  get isChanging(): boolean {
    return this.#rescoping !== undefined;
  }

  /** From now on the client may see another part of the list. What it may no longer see is DELETED from now on. */
  rescope(within: Within): void {
    const before = this.#within;
    if (!before || before.id === within.id) return;
    const { had, whole } = this.#rescoping ?? { had: before.names, whole: before.names };
    this.#rescoping = {
      had: new Set([...had, ...within.names]),
      whole: new Set([...whole].filter((name) => within.names.has(name))),
    };
    this.#within = within;
    this.#present = this.#changing(within, this.#rescoping);
  }

  /** The names whose objects the client must forget, and those of which it gets all objects. */
  changes(): { readonly lost: ReadonlySet<string>; readonly gained: ReadonlySet<string> } {
    const [within, rescoping] = [this.#within, this.#rescoping];
    if (!within || !rescoping) return { lost: new Set(), gained: new Set() };
    return {
      lost: namesOnlyIn({ names: rescoping.had }, within),
      gained: namesOnlyIn(within, { names: rescoping.whole }),
    };
  }

  /** The client has been told of the change of its rights. */
  settle(): void {
    if (!this.#rescoping || !this.#within) return;
    this.#rescoping = undefined;
    this.#present = this.#viewOf(this.#within, this.#within.id);
  }

  #viewOf({ names }: Within, scope: string | undefined): WatchView {
    const { matches } = this.#chosen;
    const place = this.#placeOf;
    const namespaceKey = scope === undefined ? [...names].map(encodeURIComponent).join() : undefined;
    return { ...this.#chosen, scope, namespaceKey, matches: (object) => names.has(place(object)) && matches(object) };
  }

  /** Batches are shared by the key of the filter, so it names what the client may have and what it may see. */
  #changing(within: Within, { had }: Rescoping): WatchView {
    const { matches, filterKey } = this.#chosen;
    const place = this.#placeOf;
    const mayHave = (object: Shape): boolean => had.has(place(object)) && matches(object);
    const key = `${filterKey}~${this.#present.filterKey}${this.#present.scope}>${within.id}`;
    return { ...this.#viewOf(within, CHANGING), filterKey: key, had: mayHave };
  }
}
