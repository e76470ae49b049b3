import { describe, expect, test } from 'vitest';
import { boundedLine } from '../../../src/observability/bounded-line.ts';

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('A-36 a log line', () => {
  test('that fits is left as it is', () => {
    const line = { path: '/a', status: 200, absent: undefined };
    expect(boundedLine(line)).toBe(line);
  });

  test('of 8,064 bytes is left as it is, one more is cut', () => {
    const lineOf = (length: number) => ({ text: 'x'.repeat(length - bytes({ text: '' })) });
    const [fits, over] = [lineOf(8_064), lineOf(8_065)];
    expect([bytes(fits), boundedLine(fits)]).toEqual([8_064, fits]);
    expect(bytes(boundedLine(over))).toBeLessThan(8_064);
  });

  test.each(['"', '\u0001', '漢', '\ud83d'])('of 20 long texts of %j fits, and keeps what is short', (character) => {
    const texts = Object.fromEntries(
      Array.from({ length: 19 }, (_, index) => [`text${index}`, character.repeat(2_048)]),
    );
    const bounded = boundedLine({
      ...texts,
      status: 503,
      queryParameters: Array(32).fill('n'.repeat(32)),
      user: 'alice',
    });
    expect(bytes(bounded)).toBeLessThanOrEqual(8_064);
    expect(bounded).toMatchObject({ status: 503, user: 'alice' });
    expect(String(bounded['text0']).length).toBeGreaterThanOrEqual(64);
  });

  test('is cut in the objects within it, too', () => {
    const bounded = boundedLine({ id: 'x', user: { name: 'alice', groups: Array(2_000).fill('g'.repeat(20)) } });
    expect(bytes(bounded)).toBeLessThanOrEqual(8_064);
    expect(bounded).toMatchObject({ id: 'x', user: { name: 'alice' } });
  });
});
