import { describe, expect, test } from 'vitest';
import { countsIn, entriesIn, numberIn, recordOf } from '../../../src/documents/loki/loki-answer.ts';
import { StoreError } from '../../../src/stores/store-error.ts';

const LABELS = { namespace: 'namespace', pod: 'pod', container: 'container' };
const good = (result: unknown) => ({ status: 200, body: { status: 'success', data: { resultType: '', result } } });

const UNREADABLE = ['away', 'the log store answers what cannot be read'];

function kindOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error instanceof StoreError ? [error.kind, error.message] : error;
  }
}

describe('a record', () => {
  const timeOf = (at: bigint): unknown =>
    Reflect.get(recordOf({ at, line: 'x', labels: {}, stream: '' }, LABELS), 'time');

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
    expect(recordOf({ at: 0n, line: '', labels, stream: '' }, { ...LABELS, namespace: 'ns' })).toEqual({
      ...{ time: '1970-01-01T00:00:00.000Z', namespace: 'shop', pod: 'cart-1' },
    });
  });
});

describe('an answer', () => {
  const asked = { start: 1n, end: 4n, limit: 3 };

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
    const [a, b] = [{ pod: 'a' }, { pod: 'b' }].map((labels) => ({ labels, stream: JSON.stringify(labels) }));
    expect(entriesIn(good(streams), LABELS.namespace, asked)).toEqual([
      { at: 2n, line: 'two', ...a },
      { at: 1n, line: 'one', ...a },
      { at: 3n, line: 'three', ...b },
    ]);
  });

  const stream = (labels: object, ...times: readonly string[]) => ({
    stream: labels,
    values: times.map((at) => [at, 'x']),
  });

  test.each<[string, object, object?]>([
    ['before the span', stream({}, '0')],
    ['at the end of the span', stream({}, '4')],
    ['of a namespace that was not asked for', stream({ namespace: 'secret' }, '1'), { namespaces: new Set(['a']) }],
    ['of no namespace where some were asked for', stream({}, '1'), { namespaces: new Set(['a']) }],
    ['more than were asked for', stream({}, '1', '2', '3', '3')],
    ['of labels without an end', stream({ pod: 'p'.repeat(65_536) }, '1')],
  ])('with an entry %s is not taken', (_, one, more = {}) => {
    expect(kindOf(() => entriesIn(good([one]), LABELS.namespace, { ...asked, ...more }))).toEqual(UNREADABLE);
  });

  test('has one number, or none where nothing was counted', () => {
    expect(numberIn(good([{ metric: {}, value: [1_773_050_411.5, '9726'] }]))).toBe(9_726);
    expect(numberIn(good([]))).toBe(0);
  });

  const times = { first: 1_773_050_411_000, last: 1_773_050_413_000, step: 1_000 };

  test('has counts with their times in milliseconds', () => {
    const values = [
      [1_773_050_411, '3'],
      [1_773_050_413, '4'],
    ];
    expect(countsIn(good([{ metric: {}, values }]), times)).toEqual([
      { at: 1_773_050_411_000, count: 3 },
      { at: 1_773_050_413_000, count: 4 },
    ]);
  });

  test.each([1_773_050_410, 1_773_050_414, 1_773_050_411.5, 1e19, Number.NaN, -1])(
    'with a count at %d is not taken',
    (at) => {
      expect(kindOf(() => countsIn(good([{ values: [[at, '1']] }]), times))).toEqual(UNREADABLE);
    },
  );

  test.each([
    ['a time that is none', () => entriesIn(good([{ stream: {}, values: [['1e9', 'x']] }]), LABELS.namespace, asked)],
    ['a line that is none', () => entriesIn(good([{ stream: {}, values: [['1', 2]] }]), LABELS.namespace, asked)],
    ['a number that is none', () => numberIn(good([{ value: [1, 'NaN'] }]))],
    ['a number that is no text', () => numberIn(good([{ value: [1, 3] }]))],
    ['a time of a number that is text', () => numberIn(good([{ value: ['1', '3'] }]))],
    ['a number below 0', () => numberIn(good([{ value: [1, '-1'] }]))],
    ['a time of a number that is none', () => countsIn(good([{ values: [['1', '1']] }]), times)],
    ['a failure with a good status', () => numberIn({ status: 200, body: { status: 'error' } })],
    ['no JSON', () => numberIn({ status: 200, body: undefined, text: 'OK' })],
  ])('with %s cannot be read', (_, read) => {
    expect(kindOf(read)).toEqual(UNREADABLE);
  });

  test.each<[number, string, StoreError['kind'], string]>([
    [
      400,
      'the query time range exceeds the limit (query length: 2160h0m0s, limit: 30d1h)\n',
      'refused',
      'the query time range exceeds the limit (query length: 2160h0m0s, limit: 30d1h)',
    ],
    [422, 'too many series', 'refused', 'too many series'],
    [400, 'parse error: "timeout"', 'refused', 'parse error: "timeout"'],
    [400, 'cannot reach http://loki-read.logging.svc:3100/x', 'refused', 'cannot reach …'],
    [500, 'context deadline exceeded', 'slow', 'the log store gave up at its time limit'],
    [504, '', 'slow', 'the log store gave up at its time limit'],
    [401, 'no org id', 'away', 'the log store asks for a tenant (lokiTenant): no org id'],
    [401, 'Unauthorized', 'away', 'the log store refuses our user name or password: 401'],
    [400, '', 'away', 'the log store answers 400 as no Loki does: see logging.version'],
    [403, 'not for you', 'away', 'the log store does not let our user do this: 403 not for you'],
    [429, 'too many outstanding requests', 'away', 'the log store answers 429 too many outstanding requests'],
    [
      413,
      'response larger than the max message size (4194304)',
      'refused',
      'the answer of the log store is too long; ask for fewer records',
    ],
    [
      500,
      'rpc error: code = ResourceExhausted desc = grpc: received message larger than max (5 vs. 4)',
      'refused',
      'the answer of the log store is too long; ask for fewer records',
    ],
    [500, 'empty ring', 'away', 'the log store answers 500 empty ring'],
    [502, '<html>', 'away', 'the log store answers 502 <html>'],
    [404, '404 page not found', 'away', 'the log store answers 404 404 page not found'],
  ])('%i %s', (status, text, kind, message) => {
    expect(kindOf(() => numberIn({ status, body: undefined, text }))).toEqual([kind, message]);
  });
});
