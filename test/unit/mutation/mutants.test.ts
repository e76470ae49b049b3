import { describe, expect, test } from 'vitest';
import { outcomeOf } from '../../mutation/journal.ts';
import { mutationsOf } from '../../mutation/mutants.ts';
import { reportOf } from '../../mutation/report.ts';
import { withSwitches } from '../../mutation/switches.ts';

const found = (source: string): string[] =>
  mutationsOf('a.ts', source).mutants.map(({ kind, was, becomes }) => `${kind}: ${was} -> ${becomes}`);

describe('the mutants of a source', () => {
  test.each([
    [
      'f(a < 1);',
      ['removed: f(a < 1); -> ', 'comparison: a < 1 -> a <= 1', 'comparison: a < 1 -> a >= 1', 'constant: 1 -> 2'],
    ],
    ['const x = a + b;', ['arithmetic: a + b -> a - b']],
    ["const x = a + 'b';", ["text: 'b' -> ''"]],
    ["const x = ''", ["text: '' -> 'mutant'"]],
    ['const x = !a && b;', ['logic: !a && b -> (!a) || (b)', 'condition: !a -> a']],
    ['const x = a ?? b;', ['logic: a ?? b -> a', 'logic: a ?? b -> b']],
    ['const x = a?.b?.c;', ['logic: a?.b?.c -> a.b?.c']],
    ['const x = [true, 10_000, 2n];', ['constant: true -> false', 'constant: 10_000 -> 0', 'constant: 2n -> 3n']],
    ['x += 1', ['removed: x += 1 -> ', 'arithmetic: x += 1 -> x -= 1', 'constant: 1 -> 2']],
    ['const f = () => a;', ['returned: a -> undefined']],
    ['if (a) throw b;', ['condition: a -> true', 'condition: a -> false', 'removed: throw b; -> ']],
    ['while (a) break;', ['condition: a -> false', 'removed: break; -> ']],
  ])('of %s', (source, expected) => {
    expect(found(source)).toEqual(expected);
  });

  test.each([
    "import a from 'b'; export * from 'c';",
    "type A = 'b' | 1; interface B { readonly c: true }",
    "const x: 'a' = y as 'a';",
    'const { a: b } = c;',
    "const text = 'a sentence for people';",
    'const isText = typeof a;',
  ])('are none in %s', (source) => {
    expect(found(source)).toEqual([]);
  });
});

/** Runs the source with one mutant on, and gives `result`; a loop that takes a thousand turns is ended. */
function run(source: string, on: number): unknown {
  const text = withSwitches(source, mutationsOf('a.ts', source), 10);
  let turns = 0;
  const turn = (): void => {
    if (++turns > 1_000) throw new Error('endless');
  };
  return new Function('__mutant', '__turn', `let result; ${text}; return result;`)(
    (number: number) => number === on,
    turn,
  );
}

describe('a source with switches', () => {
  const source = 'let n = 0; for (const one of [1, 2, 3]) if (one < 3) n += one; result = n;';

  test('does what it did while none is on', () => {
    expect(run(source, -1)).toBe(3);
  });

  test('has every mutant behind its number', () => {
    const { mutants } = mutationsOf('a.ts', source);
    const results = mutants.map(({ was, becomes }, at) => [was, becomes, run(source, 10 + at)]);
    expect(results).toEqual([
      ['0', '1', 4],
      ['1', '2', 4],
      ['2', '3', 1],
      ['3', '4', 3],
      ['one < 3', 'true', 6],
      ['one < 3', 'false', 0],
      ['one < 3', 'one <= 3', 6],
      ['one < 3', 'one >= 3', 3],
      ['3', '4', 6],
      ['n += one;', '', 0],
      ['n += one', 'n -= one', -3],
      ['result = n;', '', undefined],
    ]);
  });

  test('ends a loop that a mutant makes endless', () => {
    expect(() => run('let n = 0; while (n < 3) n++;', 15)).toThrow('endless');
  });
});

describe('the outcome', () => {
  test('counts a mutant as killed under which the worker died, and as alive what the tests failed without it too', () => {
    const tests = 'a.test.ts';
    const { killed, tried, ends } = outcomeOf([
      { what: 'began', mutant: 1, tests },
      { what: 'killed', mutant: 1, tests, by: 'a test' },
      { what: 'began', mutant: 2, tests },
      { what: 'lived', mutant: 2, tests },
      { what: 'began', mutant: 3, tests },
      { what: 'killed', mutant: 3, tests, by: 'a test' },
      { what: 'spoilt', mutants: [3], tests },
      { what: 'began', mutant: 4, tests },
    ]);
    expect([...killed]).toEqual([
      [1, 'a test'],
      [4, 'the end of its process'],
    ]);
    expect([...tried]).toEqual(['1 a.test.ts', '2 a.test.ts']);
    expect(ends).toBe(2);
  });

  test('has what spoils the tests tried once more, and no third time', () => {
    const tests = 'a.test.ts';
    const once = [
      { what: 'began', mutant: 1, tests },
      { what: 'killed', mutant: 1, tests, by: 'a test' },
      { what: 'spoilt', mutants: [1], tests },
    ] as const;
    expect([...outcomeOf(once).tried]).toEqual([]);
    const twice = outcomeOf([...once, ...once]);
    expect([[...twice.tried], twice.killed.size]).toEqual([['1 a.test.ts'], 0]);
  });

  test('keeps what the tests of one file have killed when those of another take it back', () => {
    const { killed } = outcomeOf([
      { what: 'killed', mutant: 1, tests: 'a.test.ts', by: 'a test' },
      { what: 'killed', mutant: 1, tests: 'b.test.ts', by: 'a test' },
      { what: 'spoilt', mutants: [1], tests: 'b.test.ts' },
    ]);
    expect([...killed]).toEqual([[1, 'a test']]);
  });

  test('is told by place and by folder', () => {
    const mutant = { start: 0, end: 1, line: 7, kind: 'constant', was: '1', becomes: '2' } as const;
    const mutants = [1, 2].map((number) => ({ ...mutant, number, file: 'src/nodes/a.ts' }));
    expect(reportOf(mutants, new Map([[1, 'a test']]))).toBe(
      'src/nodes/a.ts:7 constant: 1 -> 2\nsrc/nodes: 50.0 % (1 of 2)\n',
    );
  });
});
