import { describe, expect, test } from 'vitest';
import { filtersOf, queryOf } from '../../../../web/documents/query.ts';
import { EVENT_FILTERS } from '../../../../web/events/event-query.ts';

describe('W-25 the words of a search', () => {
  test('are those of the address, by their names in the API; empty ones and others are left out', () => {
    const address = { namespaces: 'shop', kind: 'Pod', type: 'Warning', message: '', range: '24h', pods: 'x' };
    expect(filtersOf(EVENT_FILTERS, address)).toEqual({
      involved_object_namespace_filter: 'shop',
      involved_object_kind_filter: 'Pod',
      type_filter: 'Warning',
    });
  });

  test('are separated by commas, and spaces around them do not count', () => {
    expect(filtersOf(EVENT_FILTERS, { reason: ' BackOff , Failed,, ', message: 'pull image, denied' })).toEqual({
      reason_filter: 'BackOff,Failed',
      message_search: 'pull image,denied',
    });
    expect(filtersOf(EVENT_FILTERS, { reason: ' , ' })).toEqual({});
  });

  test('have nothing of what an object inherits', () => {
    expect(filtersOf(EVENT_FILTERS, JSON.parse('{"__proto__":"x","constructor":"x"}'))).toEqual({});
  });

  test('are encoded, beside the time and the operation', () => {
    const query = queryOf({ message_search: 'a&size=1 b' }, { start: 1, end: 2 }, { operation: 'statistics' });
    expect(query).toBe('message_search=a%26size%3D1+b&start_time=1&end_time=2&operation=statistics');
  });
});
