import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const TESTS = join(import.meta.dirname, '..');
/** These run with `npm test` or with the test vectors; the tests of log stores have a seed of their own. */
const SEEDED = '{unit,integration,contract,model,vectors,support}/**/*.ts';
const CHANCE = /\bfc\.(?:assert|check|sample|statistics)\(|\bMath\.random\(/g;
const OF_MANY = /\bfc\.(?:array|uniqueArray|uint8Array|dictionary|string)\(/g;

/** From its bracket to the one that closes it. */
function argumentsAt(text: string, start: number): string {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return text.slice(start, at + 1);
  }
  return text.slice(start);
}

/** Generators of a bounded size that is left to fast-check, which then makes ten of three hundred. */
function unsized(text: string): string[] {
  return [...text.matchAll(OF_MANY)]
    .map((call) => call[0] + argumentsAt(text, call.index + call[0].length - 1).slice(1))
    .filter((call) => /\bmax(Length|Keys):/.test(call) && !/\bsize:/.test(call));
}

/** What makes cases that do not follow from the seed of the run. */
const unseeded = (text: string): string[] => [...text.matchAll(CHANCE)].map(([call]) => call);

/** Calls that may stay: the wrapper itself, names that no result depends on, and samples that take the run's seed. */
const ALLOWED = new Set([
  'support/property.ts: fc.assert(',
  'support/session-store-suite.ts: Math.random(',
  'vectors/go-durations.test.ts: fc.sample(',
  'vectors/pod-usage.test.ts: fc.sample(',
  'vectors/kubeconfig.test.ts: fc.sample(',
  'vectors/proxy-variables.test.ts: fc.sample(',
]);

function everyFile(pattern: string): { file: string; text: string }[] {
  const files = globSync(pattern, { cwd: TESTS }).filter((file) => !file.endsWith('generated-sizes.test.ts'));
  return files.map((file) => ({ file, text: readFileSync(join(TESTS, file), 'utf8') }));
}

describe('generated cases', () => {
  test('reach the size that their test asks for', () => {
    const found = everyFile('**/*.ts').flatMap(({ file, text }) => unsized(text).map((call) => `${file}: ${call}`));
    expect(found).toEqual([]);
  });

  test('follow from the one seed of the run', () => {
    const found = everyFile(SEEDED).flatMap(({ file, text }) => unseeded(text).map((call) => `${file}: ${call}`));
    expect(new Set(found)).toEqual(ALLOWED);
    expect(unseeded('fc.assert(fc.property(fc.nat(), isGood)); Math.random();')).toEqual([
      'fc.assert(',
      'Math.random(',
    ]);
  });

  test('are in no file with mocks, which the long run leaves out', () => {
    const found = everyFile('{unit,integration}/**/*.test.ts').filter(
      ({ text }) => /support\/(?:property|seed)\.ts'/.test(text) && /\bvi\.(?:mock|doMock|stubEnv)\(/.test(text),
    );
    expect(found.map(({ file }) => file)).toEqual([]);
  });

  test('are found where they do not reach it', () => {
    expect(unsized('fc.array(fc.nat(), { maxLength: 300 })')).toHaveLength(1);
    expect(unsized("fc.array(fc.nat(), { maxLength: 300, size: 'max' })")).toEqual([]);
  });
});
