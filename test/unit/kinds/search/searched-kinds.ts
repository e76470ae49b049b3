import { type Ranked, rankedHits, type ScannedKind } from '../../../../src/kinds/search/scan.ts';
import type { Sought } from '../../../../src/kinds/search/sought.ts';
import { PLAIN_WORDS } from '../../../../src/kinds/words/kind-words.ts';
import { Leaf } from '../../../../src/resources/bytes/leaf.ts';
import type { Entry } from '../../../../src/resources/entries/entry.ts';
import { ResourceStore } from '../../../../src/resources/entries/store.ts';
import { atOnce, TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { replaceAll } from '../../../support/replace-all.ts';

/** An object of a test. */
export interface Named {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The order of creation. */
  readonly at?: number;
}

/** A store of a namespaced kind with these objects. */
export function storeOf(kind: string, objects: readonly Named[]): ResourceStore {
  const type = { platform: 'gatehouse', group: 'example.com', version: 'v1', resource: `${kind.toLowerCase()}s`, kind };
  const store = new ResourceStore(
    { ...type, singularName: kind.toLowerCase(), shortNames: [], namespaced: true, ...PLAIN_WORDS },
    new TimeSlices(new FakeClock()),
  );
  const entries = objects.map(({ at = 0, labels, ...metadata }, index) =>
    store.toEntry({
      metadata: {
        ...{ ...metadata, resourceVersion: `${index + 1}`, creationTimestamp: new Date(at * 1_000).toISOString() },
        ...(labels && { labels }),
      },
    }),
  );
  replaceAll(store, entries);
  return store;
}

/** With `perLeaf`, the list is cut into leaves of so many objects. */
export const scanned = (store: ResourceStore, perLeaf?: number): ScannedKind => ({
  name: `${store.kind.resource}.${store.kind.group}`,
  type: { kind: store.kind.kind, apiVersion: 'example.com/v1' },
  namespaced: true,
  leaves: perLeaf === undefined ? store.snapshot().leaves : cut(store.entries(), perLeaf),
});

const cut = (entries: readonly Entry[], size: number): Leaf<Entry>[] =>
  Array.from(
    { length: Math.ceil(entries.length / size) },
    (_, at) => new Leaf(entries.slice(at * size, (at + 1) * size)),
  );

/** These leaves with entries that count each look at them. */
export const watchedLeaves = (leaves: readonly Leaf<Entry>[], looks: { count: number }): Leaf<Entry>[] => {
  const watched = (entry: Entry): Entry =>
    new Proxy(entry, {
      get(target, member) {
        looks.count++;
        return Reflect.get(target, member);
      },
    });
  return leaves.map(({ entries }) => new Leaf(entries.map(watched)));
};

/** Everything that matches, for a caller who may see all of it. */
export const ranked = (kinds: readonly ScannedKind[], sought: Sought, limit = 50): Ranked<ScannedKind> =>
  atOnce(
    rankedHits(
      kinds.map((kind) => ({ kind, skipped: 0, within: undefined })),
      sought,
      limit,
    ),
  );

export const shown = (hits: readonly { readonly kind: ScannedKind; readonly entry: Entry }[]): string[] =>
  hits.map(({ kind, entry }) => `${kind.type.kind} ${entry.key}`);
