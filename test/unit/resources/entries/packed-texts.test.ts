import { expect, test } from 'vitest';
import { createKindValue } from '../../../../src/kinds/kind-value.ts';
import { PLAIN_WORDS } from '../../../../src/kinds/words/kind-words.ts';
import type { KubernetesObject } from '../../../../src/kubernetes/object.ts';
import { ResourceStore } from '../../../../src/resources/entries/store.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { replaceAll } from '../../../support/replace-all.ts';
import { usedBuffers } from '../../../support/used-heap.ts';

const GADGETS = {
  ...{ group: 'example.com', version: 'v1', resource: 'gadgets', kind: 'Gadget', singularName: 'gadget' },
  ...{ shortNames: [], namespaced: true, verbs: ['list', 'watch'] },
};
const FIELDS = createKindValue(GADGETS, { platform: 'gatehouse', words: PLAIN_WORDS, way: 'fields', isSecret: false });
const OBJECTS = 3_000;
/** Two leaves have this many objects, and each leaf is packed again and again while they change. */
const NOTE = 'a note of one kilobyte. '.repeat(42);

const storeOf = (isPacked: boolean): ResourceStore =>
  new ResourceStore({ ...FIELDS, isPacked }, new TimeSlices(new FakeClock()));

const gadget = (at: number, version: number): KubernetesObject => ({
  metadata: {
    ...{ name: `gadget-${at}`, namespace: `space-${at % 7}`, uid: `uid-${at}`, resourceVersion: String(version) },
    creationTimestamp: new Date(at * 1_000).toISOString(),
    annotations: { note: `${NOTE} ${version} é` },
  },
});

/** The first list, then changes of seven in eight objects in an order without neighbours, then every fifth is removed. */
const STAGES: readonly ((store: ResourceStore) => void)[] = [
  (store) =>
    replaceAll(
      store,
      Array.from({ length: OBJECTS }, (_, at) => store.toEntry(gadget(at, at + 1))),
    ),
  (store) => {
    for (let turn = 0; turn < (OBJECTS * 7) / 8; turn++)
      store.put(store.toEntry(gadget((turn * 1_499) % OBJECTS, OBJECTS + turn + 1)));
  },
  (store) => {
    for (let at = 0; at < OBJECTS; at += 5) store.remove(`space-${at % 7}/gadget-${at}`, String(3 * OBJECTS + at));
  },
];

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test('the texts of a packed list are those of a plain one, through changes and removals', () => {
  const [packed, plain] = [storeOf(true), storeOf(false)];
  for (const stage of STAGES) {
    for (const store of [packed, plain]) stage(store);
    const listOf = (store: ResourceStore): string =>
      store
        .snapshot()
        .leaves.map((leaf) => textOf(leaf.joined()))
        .join('');
    expect(listOf(packed)).toBe(listOf(plain));
    for (const { key, encoded } of plain.entries()) {
      const same = packed.get(key)!.encoded;
      expect([textOf(same.bytes()), textOf(same.metadata())]).toEqual([
        textOf(encoded.bytes()),
        textOf(encoded.metadata()),
      ]);
      const ofVersion = Buffer.concat(same.versioned('12.1.0.0')).toString();
      expect(ofVersion).toBe(Buffer.concat(encoded.versioned('12.1.0.0')).toString());
    }
  }
});

test('a packed list takes a tenth of the memory of its texts, and less than a third after most objects changed', async () => {
  const store = storeOf(true);
  const before = await usedBuffers();
  const texts = (): number => store.entries().reduce((sum, { encoded }) => sum + encoded.length, 0);
  const isWithin = async (part: number): Promise<void> => {
    const used = (await usedBuffers()) - before;
    expect(used).toBeLessThan(texts() * part);
    // What the budget counts is what is there.
    expect(Math.abs(store.heldBytes() - used)).toBeLessThan(texts() / 20);
  };
  STAGES[0]!(store);
  await isWithin(1 / 10);
  STAGES[1]!(store);
  await isWithin(1 / 3);
  // Reading inflates, and keeps nothing.
  for (const { encoded } of store.entries()) encoded.bytes();
  await isWithin(1 / 3);
});
