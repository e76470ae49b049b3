import { describe, expect, test } from 'vitest';
import { parseDemoArguments } from '../../../dev/demo-arguments.ts';
import { mergeDeep } from '../../../dev/merge.ts';

describe('the demo’s command line', () => {
  test('has a default for everything', () => {
    expect(parseDemoArguments([])).toEqual({ nodes: 12, podsPerNode: 8, port: 9090, platform: 'gatehouse' });
  });

  test('takes every option', () => {
    const args = ['--nodes', '3', '--pods-per-node=0', '--port', '8000', '--platform', 'acme', '--config', 'a.yaml'];
    expect(parseDemoArguments(args)).toEqual({
      nodes: 3,
      podsPerNode: 0,
      port: 8000,
      platform: 'acme',
      config: 'a.yaml',
    });
  });

  test.each([
    [['--nodes', 'many'], '--nodes wants a whole number from 0 to 20000, not "many"'],
    [['--port', '65535'], '--port wants a whole number from 1 to 65534, not "65535"'],
    [['--nodes', '-1'], '--nodes'],
    [['--verbose'], '--verbose'],
  ])('says what is wrong with %j', (args, sentence) => {
    const parsed = parseDemoArguments(args) as { misuse: string };
    expect(parsed.misuse).toContain(sentence);
  });
});

describe('mergeDeep', () => {
  test('merges maps deep and replaces everything else', () => {
    const base = { a: { b: 1, c: [1, 2] }, d: 'x', e: { f: 1 } };
    expect(mergeDeep(base, { a: { c: [3] }, d: { g: 1 }, e: null })).toEqual({
      a: { b: 1, c: [3] },
      d: { g: 1 },
      e: null,
    });
  });

  test('gives no prototype to reach', () => {
    const merged = mergeDeep({}, JSON.parse('{"__proto__": {"polluted": true}}') as Record<string, unknown>);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });
});
