import { describe, expect, test } from 'vitest';
import { auditKind } from '../../../src/documents/kinds/audit-kind.ts';
import { EVENTS } from '../../../src/documents/kinds/event-kind.ts';
import { LOGS } from '../../../src/documents/kinds/log-kind.ts';
import { QueryParser } from '../../../src/documents/query/parse-query.ts';

const KINDS = [LOGS, EVENTS, auditKind('gatehouse', { isAsEvents: false })];

describe.each(KINDS)('the kind $name', (kind) => {
  test('has a place for each field that a parameter is compared with, and for the namespace', () => {
    const fields = new Set([kind.namespace, ...Object.values(kind.conditions).map(({ field }) => field)]);
    expect([...fields].toSorted()).toEqual(Object.keys(kind.fields).toSorted());
  });

  test('reads each of its parameters', () => {
    const parser = new QueryParser(kind);
    for (const [name, { field, match }] of Object.entries(kind.conditions))
      expect(parser.parse(`${name}=17`, 0).conditions).toEqual([{ field, match, values: ['17'] }]);
    for (const [name, list] of Object.entries(kind.scope))
      expect(parser.parse(`${name}=a,b`, 0).scope[list]).toEqual(['a', 'b']);
  });
});

test('E-04 both forms of events have a place for every field that differs', () => {
  const { reason: _, type: __, ...others } = EVENTS.fields;
  for (const places of Object.values(others)) expect(places).toHaveLength(2);
});

test('a part of a text is counted in characters', () => {
  const parser = new QueryParser(EVENTS);
  expect(() => parser.parse('reason_search=😀', 0)).toThrow('a part has at least 2 characters');
  expect(parser.parse('reason_search=订单', 0).conditions).toHaveLength(1);
});
