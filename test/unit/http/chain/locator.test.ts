import { describe, expect, test } from 'vitest';
import { Locator } from '../../../../src/http/chain/guard.ts';

describe('the locator', () => {
  test('finds the same place again', () => {
    const subject = new Locator();
    const first = subject.locate('/n/x%41?q=1', 'h');
    expect(subject.locate('/n/x%41?q=1', 'h')).toBe(first);
    expect(first).toMatchObject({ target: { path: '/n/x%41', query: 'q=1' }, path: '/n/xA' });
  });

  test.each([
    ['/', '/'],
    ['/a/', '/a'],
    ['/%61/b%20c?q=%61', '/a/b%20c'],
    ['/a:b/%3Fc', '/a%3Ab/%3Fc'],
    ['/%C3%BC', '/%C3%BC'],
  ])('A-25 gives %s the one path %s', (raw, path) => {
    expect(new Locator().locate(raw, 'h')).toMatchObject({ path });
  });

  test('A-07 reads an absolute target with the Host of each request', () => {
    const subject = new Locator();
    expect(subject.locate('http://h/a', 'h')).toMatchObject({ path: '/a' });
    expect(subject.locate('http://h/a', 'other')).toHaveProperty('fault');
  });

  test('keeps no fault and no long path', () => {
    const subject = new Locator();
    const long = `/n/${'x'.repeat(300)}`;
    expect(subject.locate(long, 'h')).not.toBe(subject.locate(long, 'h'));
    expect(subject.locate('/a/../a', 'h')).toHaveProperty('fault');
  });

  test.each([300, 10_000])('keeps 256 of %i places at most', (count) => {
    const subject = new Locator();
    const asked = Array.from({ length: count }, (_, at) => `/n/${at}`);
    const first = asked.map((raw) => subject.locate(raw, 'h'));
    // The newest first: what has to be read anew makes it forget the others.
    const kept = asked.filter((raw, at) => subject.locate(asked.at(-1 - at) ?? raw, 'h') === first.at(-1 - at));
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(256);
  });

  test('keeps texts of 256 characters at most', () => {
    const subject = new Locator();
    const isKept = (raw: string): boolean => {
      const first = subject.locate(raw, 'h');
      return subject.locate(raw, 'h') === first;
    };
    const raw = (length: number): string => `/n/${'x'.repeat(length - 3)}`;
    expect([1, 255, 256, 257, 8_000].map((length) => isKept(raw(length + 3)))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect([253, 256, 257].map((length) => isKept(raw(length)))).toEqual([true, true, false]);
  });

  test('keeps no path of more than 16 segments', () => {
    const subject = new Locator();
    const isKept = (segments: number): boolean => {
      const raw = '/a'.repeat(segments);
      const first = subject.locate(raw, 'h');
      return subject.locate(raw, 'h') === first;
    };
    expect([1, 16, 17, 120].map(isKept)).toEqual([true, true, false, false]);
  });

  test('forgets, and still finds, when more is asked than it keeps', () => {
    const subject = new Locator();
    for (let at = 0; at < 1_000; at++) {
      expect(subject.locate(`/n/${at}`, 'h')).toMatchObject({ path: `/n/${at}` });
    }
  });
});
