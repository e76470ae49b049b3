import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/logs/store/log-store.ts';
import { countsIn, entriesIn, numberIn, recordOf } from '../../../src/logs/store/loki-answer.ts';

const LABELS = { namespace: 'namespace', pod: 'pod', container: 'container' };
const good = (result: unknown) => ({ status: 200, body: { status: 'success', data: { resultType: '', result } } });

function kindOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error instanceof StoreError ? [error.kind, error.message] : error;
  }
}

describe('a record', () => {
  const timeOf = (at: bigint): unknown => recordOf({ at, line: 'x', labels: {} }, LABELS).time;

  test.each([
    [1_773_050_411_123_000_000n, '2026-03-09T10:00:11.123Z'],
    [1_773_050_411_000_000_000n, '2026-03-09T10:00:11.000Z'],
    [1_773_050_411_120_000_000n, '2026-03-09T10:00:11.120Z'],
    [1_773_050_411_123_456_789n, '2026-03-09T10:00:11.123456789Z'],
    [1_773_050_411_123_000_789n, '2026-03-09T10:00:11.123000789Z'],
    [1_773_050_411_123_400_000n, '2026-03-09T10:00:11.1234Z'],
  ])('of %s says %s', (at, text) => {
    expect(timeOf(at)).toBe(text);
  });

  test('has what its labels say, and no empty member', () => {
    const labels = { ns: 'shop', pod: 'cart-1', container: '', app: 'cart' };
    expect(recordOf({ at: 0n, line: '', labels }, { ...LABELS, namespace: 'ns' })).toEqual({
      ...{ time: '1970-01-01T00:00:00.000Z', namespace: 'shop', pod: 'cart-1' },
    });
  });
});

describe('an answer', () => {
  test('has the entries of all streams', () => {
    const streams = [
      {
        stream: { pod: 'a' },
        values: [
          ['2', 'two'],
          ['1', 'one', { trace: 'x' }],
        ],
      },
      { stream: { pod: 'b' }, values: [['3', 'three']] },
    ];
    expect(entriesIn(good(streams))).toEqual([
      { at: 2n, line: 'two', labels: { pod: 'a' } },
      { at: 1n, line: 'one', labels: { pod: 'a' } },
      { at: 3n, line: 'three', labels: { pod: 'b' } },
    ]);
  });

  test('has one number, or none where nothing was counted', () => {
    expect(numberIn(good([{ metric: {}, value: [1_773_050_411.5, '9726'] }]))).toBe(9_726);
    expect(numberIn(good([]))).toBe(0);
  });

  test('has counts with their times in milliseconds', () => {
    const values = [
      [1_773_050_411.123, '3'],
      [1_773_050_412, '4'],
    ];
    expect(countsIn(good([{ metric: {}, values }]))).toEqual([
      { at: 1_773_050_411_123, count: 3 },
      { at: 1_773_050_412_000, count: 4 },
    ]);
  });

  test.each([
    ['a time that is none', () => entriesIn(good([{ stream: {}, values: [['1e9', 'x']] }]))],
    ['a line that is none', () => entriesIn(good([{ stream: {}, values: [['1', 2]] }]))],
    ['a number that is none', () => numberIn(good([{ value: [1, 'NaN'] }]))],
    ['a time of a number that is none', () => countsIn(good([{ values: [['1', '1']] }]))],
    ['a failure with a good status', () => numberIn({ status: 200, body: { status: 'error' } })],
    ['no JSON', () => numberIn({ status: 200, body: undefined, text: 'OK' })],
  ])('with %s cannot be read', (_, read) => {
    expect(kindOf(read)).toEqual(['away', 'the log store answers what cannot be read']);
  });

  test.each<[number, string, StoreError['kind'], string]>([
    [
      400,
      'the query time range exceeds the limit (query length: 2160h0m0s, limit: 30d1h)\n',
      'refused',
      'the query time range exceeds the limit (query length: 2160h0m0s, limit: 30d1h)',
    ],
    [422, 'too many series', 'refused', 'too many series'],
    [400, 'cannot reach http://loki-read.logging.svc:3100/x', 'refused', 'cannot reach …'],
    [500, 'context deadline exceeded', 'slow', 'the log store gave up at its time limit'],
    [504, '', 'slow', 'the log store gave up at its time limit'],
    [401, 'no org id', 'away', 'the log store asks for logging.lokiTenant: no org id'],
    [401, 'Unauthorized', 'away', 'the log store refuses our user name or password: 401'],
    [400, '', 'away', 'the log store answers 400 as no Loki does: see logging.version'],
    [403, 'not for you', 'away', 'the log store does not let our user do this: 403 not for you'],
    [429, 'too many outstanding requests', 'away', 'the log store answers 429 too many outstanding requests'],
    [500, 'empty ring', 'away', 'the log store answers 500 empty ring'],
    [502, '<html>', 'away', 'the log store answers 502 <html>'],
    [404, '404 page not found', 'away', 'the log store answers 404 404 page not found'],
  ])('%i %s', (status, text, kind, message) => {
    expect(kindOf(() => numberIn({ status, body: undefined, text }))).toEqual([kind, message]);
  });
});
