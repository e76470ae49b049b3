import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KeyTable, textHash } from '../../../../src/kubernetes/reflector/key-table.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizes, type Sizes } from '../../../support/property.ts';

interface Entry {
  readonly key: string;
  readonly value: number;
}

const sorted = (entries: Iterable<Entry>): Entry[] => [...entries].sort((a, b) => (a.key < b.key ? -1 : 1));

describe('KeyTable', () => {
  test('keeps two keys of one hash apart', () => {
    // Two words that FNV-1a is known to take for one.
    expect(textHash('costarring')).toBe(textHash('liquid'));
    const table = new KeyTable<Entry>();
    table.set({ key: 'costarring', value: 1 });
    expect(table.get('liquid')).toBeUndefined();
    table.set({ key: 'liquid', value: 2 });
    expect([table.get('costarring')?.value, table.get('liquid')?.value]).toEqual([1, 2]);
    table.delete('costarring');
    expect(table.get('costarring')).toBeUndefined();
    expect(table.get('liquid')?.value).toBe(2);
    expect(table.size).toBe(1);
  });

  test('looks at a few entries for each change, even where all keys have one hash', () => {
    let looks = 0;
    const table = new KeyTable<Entry>(() => 7);
    const named = (value: number): Entry => ({
      value,
      get key() {
        looks++;
        return `pod-${value}`;
      },
    });
    const all = Array.from({ length: 1_000 }, (_, value) => named(value));
    for (const entry of [...all, ...all]) table.set(entry);
    expect(all.map((entry) => table.get(`pod-${entry.value}`))).toEqual(all);
    for (const { value } of all) table.delete(`pod-${value}`);
    expect(table.values()).toEqual([]);
    expect(looks).toBeLessThan(10 * all.length);
  });

  test('iterates entries that it is given meanwhile at most once, and those that were there', () => {
    const table = new KeyTable<Entry>();
    for (let value = 0; value < 10; value++) table.set({ key: `pod-${value}`, value });
    const seen: string[] = [];
    for (const { key, value } of table.values()) {
      seen.push(key);
      table.set({ key, value: value + 100 });
    }
    expect(seen).toHaveLength(10);
    expect(new Set(seen).size).toBe(10);
  });

  test('does what a Map does, whatever the hash takes for one', () => {
    const largest = new Largest('a table of keys', 'keys');
    const largestCell = new Largest('a cell of a table of keys', 'keys');
    const KEYS = Array.from({ length: 61 }, (_, number) => `default/pod-${number}`);
    const change = fc.record({
      verb: fc.constantFrom('set' as const, 'set' as const, 'set' as const, 'delete' as const),
      key: fc.constantFrom(...KEYS),
      value: fc.nat(),
    });
    // The largest cases begin with all keys, in one cell.
    const all = KEYS.map((key, value) => ({ verb: 'set' as const, key, value }));
    const changesOf = ({ upTo, isLargest }: Sizes) =>
      fc.array(change, upTo(200, 1)).map((changes) => (isLargest ? [...all, ...changes] : changes));
    const cellsOf = ({ isLargest }: Sizes) => fc.integer({ min: 1, max: isLargest ? 1 : 70 });
    checkSizes((sizes) =>
      fc.property(changesOf(sizes), cellsOf(sizes), (changes, cells) => {
        const table = new KeyTable<Entry>((key) => textHash(key) % cells);
        const model = new Map<string, Entry>();
        for (const { verb, key, value } of changes) {
          if (verb === 'set') {
            table.set({ key, value });
            model.set(key, { key, value });
          } else {
            table.delete(key);
            model.delete(key);
          }
          expect(table.get(key)).toEqual(model.get(key));
          expect(table.size).toBe(model.size);
          largest.see(model.size);
          largestCell.see(Math.ceil(model.size / cells));
        }
        expect(sorted(table.values())).toEqual(sorted(model.values()));
        for (const key of model.keys()) expect(table.get(key)).toEqual(model.get(key));
      }),
    );
    largest.expectAtLeast(KEYS.length);
    largestCell.expectAtLeast(KEYS.length);
  });
});
