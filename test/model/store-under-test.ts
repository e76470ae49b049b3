import type { Freshness, ReflectedStore, StoredEntry } from '../../src/kubernetes/reflector/store.ts';
import type { Representation } from '../../src/resources/bytes/representation.ts';
import { createLister } from '../../src/resources/cache.ts';
import type { Entry } from '../../src/resources/entries/entry.ts';
import type { Kind } from '../../src/resources/entries/kind.ts';
import { ResourceStore } from '../../src/resources/entries/store.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { TimeSlices } from '../../src/runtime/time-slices.ts';
import { StatusError } from '../../src/status-error.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type MapEntry, MapStore } from '../support/map-store.ts';
import { kindOf } from '../unit/kinds/words/worded-kind.ts';
import { NODE_KIND, parseNodeListQuery } from '../unit/resources/node-objects.ts';
import { hold } from './violation.ts';

/** The default of `nodes.maxStaleness`. */
const MAX_STALENESS_MS = 720_000;

/** A store and how to see what it holds. */
export interface StoreUnderTest {
  readonly store: ReflectedStore<StoredEntry>;
  /** Names the write that an entry shows: no two writes of a run are alike. */
  writeOf(entry: StoredEntry): string;
  /** Reads as a client would; `freshness` is the reflector's. */
  reader(freshness: Freshness, clock: Clock): Reader;
}

export interface Reader {
  /** I6: answered if and only if the data is no older than the limit. I4: the answer is the store's content, counted right. */
  read(): void;
  /** I4: what was answered earlier has not changed. */
  reread(): void;
}

export function storeUnderTest(kind: 'map' | 'nodes' | 'pods'): StoreUnderTest {
  if (kind === 'map') return mapStore();
  return engineStore(kind === 'nodes' ? NODE_KIND : kindOf('pods.'));
}

const mapStore = (): StoreUnderTest => ({
  store: new MapStore() as unknown as ReflectedStore<StoredEntry>,
  writeOf: (entry) => String((entry as MapEntry).object.metadata.labels?.['write']),
  reader: () => ({ read: () => {}, reread: () => {} }),
});

function engineStore(kind: Kind): StoreUnderTest {
  const store = new ResourceStore(kind, new TimeSlices(new FakeClock()));
  return {
    store: store as unknown as ReflectedStore<StoredEntry>,
    writeOf: (entry) => String((entry as Entry).labels?.['write']),
    reader: (freshness, clock) => new ListReader(store, freshness, clock),
  };
}

/** Earlier answers that are looked at again at the end. */
const KEPT = 200;
const ALL = parseNodeListQuery('');
const OF_ONE_NAMESPACE = parseNodeListQuery('namespace=one&sortBy=name&ascending=true');

class ListReader implements Reader {
  readonly #store: ResourceStore;
  readonly #freshness: Freshness;
  readonly #lister;
  readonly #answers: { readonly representation: Representation; readonly text: string }[] = [];

  constructor(store: ResourceStore, freshness: Freshness, clock: Clock) {
    this.#store = store;
    this.#freshness = freshness;
    this.#lister = createLister({
      ...{ store, freshness: { nodes: freshness }, clock, epoch: 'e', exposeBytes: () => {} },
      maxStalenessMs: MAX_STALENESS_MS,
    });
  }

  read(): void {
    const { hasSynced, stalenessMs } = this.#freshness;
    const answer = this.#answer();
    const isDue = hasSynced() && stalenessMs() <= MAX_STALENESS_MS;
    hold(isDue ? typeof answer !== 'number' : answer === 503, 'I6', () => ({ staleness: stalenessMs(), answer }));
    if (typeof answer === 'number') return;
    const text = textOf(answer);
    if (this.#answers.length < KEPT && this.#answers.at(-1)?.representation !== answer)
      this.#answers.push({ representation: answer, text });
    const { items, totalItems } = JSON.parse(text) as { items: { metadata: Shown }[]; totalItems: number };
    const listed = items.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion} ${metadata.labels.write}`);
    const held = [...this.#store.entries()].map(
      (entry) => `${entry.uid} ${entry.resourceVersion} ${entry.labels?.['write']}`,
    );
    hold(totalItems === held.length, 'I4', () => ({ totalItems, held }));
    hold(listed.sort().join() === held.sort().join(), 'I4', () => ({ listed, held }));
    this.#readOneNamespace();
  }

  /** I4: a filtered page in the other order shows the same state. */
  #readOneNamespace(): void {
    const { items } = JSON.parse(textOf(this.#lister.list(OF_ONE_NAMESPACE))) as { items: { metadata: Shown }[] };
    const listed = items.map(({ metadata }) => metadata.uid);
    const ofOne = [...this.#store.entries()].filter(({ namespace }) => namespace === 'one');
    const held = ofOne.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ uid }) => uid);
    hold(listed.join() === held.join(), 'I4', () => ({ listed, held }));
  }

  reread(): void {
    for (const { representation, text } of this.#answers)
      hold(textOf(representation) === text, 'I4', () => ({ 'an earlier answer has changed': text }));
  }

  #answer(): Representation | number {
    try {
      return this.#lister.list(ALL);
    } catch (error) {
      if (error instanceof StatusError) return error.answer.code;
      throw error;
    }
  }
}

interface Shown {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: { readonly write: string };
}

const textOf = (representation: Representation): string =>
  Buffer.concat(representation.body('identity').pieces).toString();
