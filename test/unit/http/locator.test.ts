import { describe, expect, test } from 'vitest';
import { Locator } from '../../../src/http/locator.ts';
import { RouteTable } from '../../../src/http/route-table.ts';

const route = (template: string) =>
  ({ template, access: 'public', admission: 'other', produces: 'any', methods: {} }) as never;
const locator = () => new Locator(new RouteTable([route('/a'), route('/n/{name}')]));

describe('the locator', () => {
  test('finds the same place again', () => {
    const subject = locator();
    const first = subject.locate('/n/x%41?q=1', 'h');
    expect(subject.locate('/n/x%41?q=1', 'h')).toBe(first);
    expect(first).toMatchObject({ target: { path: '/n/x%41', query: 'q=1' }, match: { parameters: ['xA'] } });
  });

  test('A-07 reads an absolute target with the Host of each request', () => {
    const subject = locator();
    expect(subject.locate('http://h/a', 'h')).toMatchObject({ match: { parameters: [] } });
    expect(subject.locate('http://h/a', 'other')).toHaveProperty('fault');
  });

  test('keeps no fault, no unknown path and no long one', () => {
    const subject = locator();
    for (const raw of ['/unknown', `/n/${'x'.repeat(300)}`]) {
      expect(subject.locate(raw, 'h')).not.toBe(subject.locate(raw, 'h'));
    }
    expect(subject.locate('/a/../a', 'h')).toHaveProperty('fault');
  });

  test('forgets, and still finds, when more is asked than it keeps', () => {
    const subject = locator();
    for (let at = 0; at < 1_000; at++) {
      expect(subject.locate(`/n/${at}`, 'h')).toMatchObject({ match: { parameters: [String(at)] } });
    }
  });
});
