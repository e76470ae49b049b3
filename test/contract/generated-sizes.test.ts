import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const TESTS = join(import.meta.dirname, '..');
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

describe('generated cases', () => {
  test('reach the size that their test asks for', () => {
    const files = globSync('**/*.ts', { cwd: TESTS }).filter((file) => !file.endsWith('generated-sizes.test.ts'));
    const found = files.flatMap((file) =>
      unsized(readFileSync(join(TESTS, file), 'utf8')).map((call) => `${file}: ${call}`),
    );
    expect(found).toEqual([]);
  });

  test('are found where they do not', () => {
    expect(unsized('fc.array(fc.nat(), { maxLength: 300 })')).toHaveLength(1);
    expect(unsized("fc.array(fc.nat(), { maxLength: 300, size: 'max' })")).toEqual([]);
  });
});
