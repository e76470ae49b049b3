import { describe, expect, test } from 'vitest';
import { allowOf, RouteTable } from '../../../src/http/chain/route-table.ts';
import type { Route } from '../../../src/http/exchange.ts';

const route = (template: string, methods: Route['methods'] = { GET: () => {} }): Route => ({
  template,
  access: 'public',
  admission: 'other',
  produces: 'any',
  methods,
});

describe('the route table', () => {
  const table = new RouteTable([route('/'), route('/a'), route('/a/{x}'), route('/a/b'), route('/a/{x}/c/{y}')]);
  const find = (...segments: string[]): unknown => {
    const match = table.match(segments);
    return match && [match.route.template, ...match.parameters];
  };

  test('finds literal and variable segments, a literal one first', () => {
    expect(find()).toEqual(['/']);
    expect(find('a')).toEqual(['/a']);
    expect(find('a', 'b')).toEqual(['/a/b']);
    expect(find('a', 'z')).toEqual(['/a/{x}', 'z']);
    expect(find('a', 'z', 'c', 'q')).toEqual(['/a/{x}/c/{y}', 'z', 'q']);
  });

  test('finds nothing between and beyond', () => {
    expect(find('b')).toBeUndefined();
    expect(find('a', 'z', 'c')).toBeUndefined();
    expect(find('a', 'z', 'd')).toBeUndefined();
    expect(find('__proto__')).toBeUndefined();
    expect(find('a', '{x}', 'c', 'q', 'r')).toBeUndefined();
  });

  test('refuses two routes of one shape', () => {
    expect(() => new RouteTable([route('/a/{x}'), route('/a/{y}')])).toThrow('two routes for /a/{y}');
  });

  test('HE-405 allows the methods in alphabetical order, OPTIONS included', () => {
    const none = (): void => {};
    expect(allowOf(route('/', { PUT: none, GET: none, DELETE: none }))).toBe('DELETE, GET, OPTIONS, PUT');
  });
});
