import { describe, expect, test } from 'vitest';
import { EventLines } from '../../../../src/gateway/permitted/event-lines.ts';
import { ScopeFilter } from '../../../../src/gateway/permitted/scope-filter.ts';

const SCOPE = { id: 's', names: new Set(['in']), has: (name: string): boolean => name === 'in' };

const lines = ({ isOfNamespaces = false } = {}): EventLines =>
  new EventLines(new ScopeFilter(SCOPE, { isOfNamespaces }));

const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
const pod = (namespace: string, resourceVersion = '1'): object => ({
  kind: 'Pod',
  metadata: { name: 'in', namespace, resourceVersion },
});
const row = (namespace: string): object => ({ cells: [namespace], object: { metadata: { name: 'p', namespace } } });
const table = (rows: object[], more: object = {}): object => ({
  kind: 'Table',
  metadata: { resourceVersion: '5' },
  ...more,
  rows,
});
const COLUMNS = [{ name: 'Name', type: 'string' }];

const passed = (filter: EventLines, ...texts: readonly string[]): string[] =>
  texts.flatMap((text) => filter.write(Buffer.from(text)).map(String));

describe('the events of a watch', () => {
  test('are let through byte for byte if their object is in the scope', () => {
    const inside = `{ "type":"ADDED","object":{"metadata":{"namespace":"in","x":"\\u0041"}}}\n`;
    expect(passed(lines(), inside + event('ADDED', pod('out')), event('DELETED', pod('in')))).toEqual([
      inside,
      event('DELETED', pod('in')),
    ]);
  });

  test('are judged whole, wherever their chunks end', () => {
    const text = Buffer.from(event('ADDED', pod('out')) + event('ADDED', pod('in')) + event('MODIFIED', pod('in')));
    for (let at = 1; at < text.length; at++) {
      const filter = lines();
      const all = [...filter.write(text.subarray(0, at)), ...filter.write(text.subarray(at))].map(String);
      expect(all).toEqual([event('ADDED', pod('in')), event('MODIFIED', pod('in'))]);
    }
  });

  test('about the watch itself are let through', () => {
    const bookmark = event('BOOKMARK', { kind: 'Pod', metadata: { resourceVersion: '9' } });
    const error = event('ERROR', { kind: 'Status', code: 410 });
    const filter = lines();
    expect(passed(filter, bookmark, error)).toEqual([bookmark, error]);
    expect(filter.version).toBe('9');
  });

  test.each([
    ['no namespace', { metadata: { name: 'in' } }],
    ['a namespace that is no text', { metadata: { namespace: ['in'] } }],
    ['an escape in its namespace', { metadata: { namespace: 'i\n' } }],
    ['a namespace elsewhere only', { spec: { metadata: { namespace: 'in' } }, metadata: {} }],
    ['no metadata', { namespace: 'in' }],
    ['a Table without rows', table([])],
    ['a Table with a row of another namespace', table([row('in'), row('out')])],
    ['a Table whose row has no object', table([{ cells: ['in'] }])],
  ])('are left out if the object has %s', (_, object) => {
    expect(passed(lines(), event('ADDED', object))).toEqual([]);
  });

  test('are left out if they are no JSON', () => {
    expect(passed(lines(), 'Bad Gateway\n', '\n', '{"type":"ADDED"\n', '{"type":"ADDED","object":\n')).toEqual([]);
  });

  test('of namespaces are judged by the name', () => {
    const named = (name: string): string => event('ADDED', { metadata: { name } });
    expect(passed(lines({ isOfNamespaces: true }), named('in'), named('out'))).toEqual([named('in')]);
  });

  test('tell the version up to which the client knows', () => {
    const filter = lines();
    passed(filter, event('ADDED', pod('in', '7')), event('ADDED', pod('out', '8')));
    expect(filter.version).toBe('7');
  });

  test('of a Table: the first that is let through has the columns of the first that was left out', () => {
    const filter = lines();
    const all = passed(
      filter,
      event('ADDED', table([row('out')], { columnDefinitions: COLUMNS })),
      event('ADDED', table([row('in')], { columnDefinitions: [] })),
      event('ADDED', table([row('in')], { columnDefinitions: [] })),
    ).map((text) => JSON.parse(text).object.columnDefinitions);
    expect(all).toEqual([COLUMNS, []]);
    const other = lines();
    const without = passed(
      other,
      event('ADDED', table([row('out')], { columnDefinitions: COLUMNS })),
      event('ADDED', table([row('in')])),
    );
    expect(without.map((text) => JSON.parse(text).object)).toEqual([
      table([row('in')], { columnDefinitions: COLUMNS }),
    ]);
  });

  test('may have 8 MiB and no more', () => {
    const filter = lines();
    const piece = Buffer.alloc(1024 * 1024, 0x61);
    expect(() => {
      for (let count = 0; count < 9; count++) filter.write(piece);
    }).toThrow('an event of the cluster is too long');
  });
});
