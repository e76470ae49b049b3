import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { at, ownOf, textAt } from '../../../web/api/objects.ts';
import { yamlLines } from '../../../web/parts/yaml-lines.ts';
import { printed } from '../../../web/views/printer-columns.ts';

const textOf = (value: unknown): string =>
  yamlLines(value)
    .map(({ depth, lead, text }) => `${'  '.repeat(depth)}${lead}${text}`)
    .join('\n');

/** An object in an object, so many times. */
const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

describe('W-17 an object from the cluster', () => {
  test('has no members that it does not have itself', () => {
    const object = JSON.parse('{"metadata":{"name":"a"},"__proto__":{"b":1}}');
    for (const name of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      expect(ownOf(object, name)).toBeUndefined();
      expect(at(object, 'metadata', name)).toBeUndefined();
      expect(printed(object, { name: 'x', type: 'string', jsonPath: `.metadata.${name}` })).toBe('');
    }
    expect(at(object, '__proto__', 'b')).toBe(1);
    expect(textAt({}, '__proto__')).toBe('');
  });

  test('is YAML that reads as the same object, whatever its texts and names look like', () => {
    const texts = [
      '.5',
      '.inf',
      '.NaN',
      '-.inf',
      'null',
      'y',
      '0x10',
      '1e3',
      'a: b',
      'a #b',
      '- a',
      '---',
      '',
      '\u001b[31m',
    ];
    const value = {
      texts,
      lines: ['a\nb\n', 'a\nb', ' a\nb', 'a\n\u001b[2Jb\n', 'a\r\nb', 'a\n\u202eb', 'a\n\n'],
      ...Object.fromEntries(texts.map((text) => [text, text])),
      '-': 1,
      '?': 2,
      'a/b': 3,
      a: { b: 4 },
    };
    expect(parse(textOf(value))).toEqual(value);
    const paths = yamlLines(value).map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
  });

  test('shows control characters, and those that turn text around, by their numbers', () => {
    const shown = textOf({ one: 'a\u001b[31m\u202e\u009b', many: 'a\n\u001b]0;x\u0007\n', '\u202ekey': 1 });
    expect(shown).toBe('one: "a\\u001b[31m\\u202e\\u009b"\nmany: "a\\n\\u001b]0;x\\u0007\\n"\n"\\u202ekey": 1');
  });

  test('keeps its lines in order at every depth of lists in maps in lists', () => {
    const value = { a: [{ b: [[1, { c: 'd\ne' }], [], {}] }, 'f'], g: { h: [{ i: { j: 1 }, k: 2 }] } };
    expect(parse(textOf(value))).toEqual(value);
    const lines = yamlLines(value);
    expect(lines.map(({ depth }) => depth).slice(0, 4)).toEqual([0, 0, 1, 2]);
  });

  test('has its lines at once, however many there are and however deep they stand', () => {
    let value: unknown = Array.from({ length: 200_000 }, (_, place) => place);
    for (let level = 0; level < 98; level++) value = { a: value };
    expect(yamlLines(value)).toHaveLength(200_098);
  });

  test('is shown down to a depth, and makes no table fail', () => {
    expect(yamlLines(nested(5_000)).length).toBeLessThan(200);
    const cell = printed(
      { metadata: { name: 'a' }, spec: { deep: nested(9_000) } },
      { name: 'x', type: 'string', jsonPath: '.spec' },
    );
    expect(cell.length).toBeLessThanOrEqual(1_000);
  });
});
