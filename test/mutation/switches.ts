import type { Mutations } from './mutants.ts';

/**
 * The source with every mutant in it, each behind a switch of its own: `__mutant(n)` says whether number `n` is on and
 * notes that the place was reached. A file is read and transformed once, however many mutants it has. `first` is the number
 * of its first mutant.
 */
export function withSwitches(source: string, { mutants, loops }: Mutations, first: number): string {
  const before = new Map<number, string>();
  const after = new Map<number, string>();
  const wrap = (start: number, end: number, opening: string, closing: string): void => {
    before.set(start, (before.get(start) ?? '') + opening);
    after.set(end, closing + (after.get(end) ?? ''));
  };
  // A loop first: the mutant that leaves out the whole of its body must not leave out the count of its turns.
  const places = [
    ...loops.map((loop) => ({ ...loop, kind: 'loop' as const })),
    ...mutants.map((mutant, at) => ({ ...mutant, number: first + at })),
  ];
  // What is outside comes first, and of one place the order in which it was found.
  for (const place of places.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (place.kind === 'loop') wrap(place.start, place.end, '{__turn();', '}');
    else if (place.kind === 'removed') wrap(place.start, place.end, `{if(!__mutant(${place.number})){`, '}}');
    else wrap(place.start, place.end, `(__mutant(${place.number})?(${place.becomes}):(`, '))');
  }
  let text = '';
  let from = 0;
  for (const at of [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a - b)) {
    text += source.slice(from, at) + (after.get(at) ?? '') + (before.get(at) ?? '');
    from = at;
  }
  return text + source.slice(from);
}
