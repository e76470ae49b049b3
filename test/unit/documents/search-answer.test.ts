import { describe, expect, test } from 'vitest';
import { LOGS } from '../../../src/documents/kinds/log-kind.ts';
import {
  bucketsOf,
  cardinalityIn,
  messagesIn,
  readAnswer,
  readSearchAnswer,
  recordsIn,
  scrollIdIn,
} from '../../../src/documents/search/search-answer.ts';
import { StoreError } from '../../../src/stores/store-error.ts';
import { foundBody } from '../../support/logs/canned-store.ts';

/** The kind and the text of the failure that an answer is. */
function failure(status: number, body: unknown): [string, string] {
  try {
    readSearchAnswer({ status, body });
  } catch (error) {
    if (error instanceof StoreError) return [error.kind, error.message];
    throw error;
  }
  throw new Error('it is no failure');
}

const refusal = (error: object, status = 400) => failure(status, { error, status })[1];
const root = (reason: string, type = 'x_exception') => ({ root_cause: [{ type, reason }] });

describe('the answer to a search', () => {
  test.each([
    [7, 7],
    [{ value: 7, relation: 'eq' }, 7],
    [0, 0],
  ])('has the total %o', (total, wanted) => {
    expect(readSearchAnswer({ status: 200, body: foundBody([], 0, { hits: { total, hits: [] } }) }).total).toBe(wanted);
  });

  test('L-03 is empty where no index is there', () => {
    const error = root('no such index [k]', 'index_not_found_exception');
    expect(readSearchAnswer({ status: 404, body: { error } })).toMatchObject({ total: 0, hits: [] });
  });

  test.each([
    [200, undefined],
    [200, null],
    [200, []],
    [200, 'text'],
    [200, { hits: [] }],
    [200, { hits: { total: '7', hits: [] } }],
    [204, undefined],
    [404, undefined],
    [404, { error: 'no handler' }],
    [503, { message: 'no upstream' }],
    [301, {}],
  ])('of %i with %j cannot be used', (status, body) => {
    expect(failure(status, body)[0]).toBe('away');
  });

  test('of 200 without a body is said to be one that cannot be read', () => {
    expect(failure(200, undefined)).toEqual(['away', 'the log store answers what cannot be read']);
  });

  test.each([
    [401, 'the log store refuses our user name or password: 401'],
    [403, 'the log store does not let our user do this: 403 '],
  ])('of %i is about our credentials, whatever it says, and the log says so', (status, words) => {
    for (const type of ['security_exception', 'x_exception']) {
      const [kind, message] = failure(status, { error: root('user [canary]', type) });
      expect([kind, message.startsWith(words)]).toEqual(['away', true]);
    }
    expect(failure(status, undefined)[0]).toBe('away');
  });

  test.each([
    'es_rejected_execution_exception',
    'rejected_execution_exception',
    'circuit_breaking_exception',
    'cluster_block_exception',
    'master_not_discovered_exception',
    'no_shard_available_action_exception',
    'task_cancelled_exception',
  ])('of a store in trouble is no refusal: %s', (type) => {
    for (const status of [400, 429, 500, 503]) expect(failure(status, { error: root('so', type) })[0]).toBe('away');
  });

  test.each([
    [200, foundBody([], 0, { timed_out: true })],
    [504, { error: root('Time exceeded', 'search_timeout_exception') }],
    [500, { error: root('Time exceeded', 'query_phase_execution_exception') }],
  ])('of a store that gave up is slow: %i', (status, body) => {
    expect(failure(status, body)[0]).toBe('slow');
  });

  test('of some of the shards is none', () => {
    const _shards = { total: 3, successful: 2, failed: 1 };
    expect(failure(200, foundBody([{}], 1, { _shards }))[0]).toBe('away');
    expect(readSearchAnswer({ status: 200, body: foundBody([], 0, { _shards: { failed: 0 } }) }).total).toBe(0);
  });
});

describe('what a refusal says', () => {
  test('L-03 is the root cause, else the first failed shard, else what caused it, else itself', () => {
    const outer = { type: 'outer', reason: 'o' };
    const cause = { caused_by: { type: 'cause', reason: 'c' } };
    const shard = { failed_shards: [{ reason: { type: 'shard', reason: 's' } }] };
    expect(refusal({ ...outer, ...cause, ...shard, ...root('r', 'root') })).toBe('root: r');
    expect(refusal({ ...outer, ...cause, ...shard, root_cause: [] })).toBe('shard: s');
    expect(refusal({ ...outer, ...cause, failed_shards: [] })).toBe('cause: c');
    expect(refusal(outer)).toBe('outer: o');
  });

  test.each([
    ['10.0.0.7', '…'],
    ['10.0.0.7:9200', '…'],
    ['[10.0.0.7:9300]', '…]'],
    ['inet[/10.0.0.7:9300]', 'inet[/…]'],
    ['[fd00::7]:9300', '…'],
    ['fd00::7', '…'],
    ['fd00:0:0:0:0:0:0:7', '…'],
    ['opensearch:9200', '…'],
    ['https://user:canary@opensearch.logging/x?y', '…'],
    ['http://opensearch', '…'],
    ['os-0.os.logging.svc', '…'],
    ['os-0.os.logging.svc.cluster.local', '…'],
    ['db.internal', '…'],
    ['[kubernetes.pod_name.keyword]', '[kubernetes.pod_name.keyword]'],
    ['index [ks-logstash-log-2026.03.09]', 'index [ks-logstash-log-2026.03.09]'],
    ['no mapping found for [time]', 'no mapping found for [time]'],
  ])('has no place in it: %s', (reason, wanted) => {
    expect(refusal(root(reason))).toBe(`x_exception: ${wanted}`);
  });

  test('has 256 characters at most, and no half of a place at its end', () => {
    const reason = `${'10.0.0.7 '.repeat(112)}10.0.0.7:9200`;
    expect(refusal(root(reason))).toMatch(/^x_exception: (… ?)+$/);
    expect(refusal(root('y'.repeat(5_000)))).toHaveLength(256);
  });

  test('is read in a moment, however long it is', () => {
    for (const text of ['a', '1.', ':', 'a:', '[', 'a.', '-', ' ', 'f:'])
      expect(refusal(root(text.repeat(4_000_000)))).toBeDefined();
  });
});

describe('hits', () => {
  const kubernetes = { namespace_name: 'a', pod_name: 'p', container_name: 'c', docker_id: 'd', labels: { x: 'y' } };

  test('are records without what is empty, missing or not asked for', () => {
    const _source = { log: '', time: 't', kubernetes: { ...kubernetes, container_name: null }, secret: 'x' };
    expect(recordsIn([{ _source, sort: [5] }], LOGS)).toEqual([
      { at: 5, record: { time: 't', namespace: 'a', pod: 'p' } },
    ]);
  });

  test.each([undefined, null, {}, 'text', { _source: null }, { _source: { kubernetes: 'x' } }])(
    'of another form are empty records, the oldest of all: %j',
    (hit) => {
      expect(recordsIn([hit], LOGS)).toEqual([{ at: Number.NEGATIVE_INFINITY, record: {} }]);
      expect(messagesIn([hit])).toEqual([{ at: Number.NEGATIVE_INFINITY, log: '' }]);
    },
  );
});

describe('aggregations', () => {
  test('are buckets and numbers', () => {
    expect(bucketsOf({ buckets: [{ key: 1, key_as_string: 'x', doc_count: 2 }] })).toEqual([{ time: 1, count: 2 }]);
    expect(bucketsOf(undefined)).toEqual([]);
    const ends = [-8.64e15, 8.64e15];
    expect(bucketsOf({ buckets: ends.map((key) => ({ key, doc_count: 1 })) }).map(({ time }) => time)).toEqual(ends);
    expect([{ value: 48 }, undefined, { value: '48' }, { value: null }].map(cardinalityIn)).toEqual([48, 0, 0, 0]);
  });

  test('with buckets of another form cannot be used', () => {
    // After one that is no time there would be no end of the empty buckets.
    for (const key of ['x', 1e19, -8.7e15, 0.5])
      expect(() => bucketsOf({ buckets: [{ key, doc_count: 2 }] })).toThrow(StoreError);
  });
});

test('a good answer is its body', () => {
  expect(readAnswer({ status: 200, body: { a: 1 } })).toEqual({ a: 1 });
});

describe('a record', () => {
  const hitOf = (source: object) => [{ _source: source, sort: [5] }];

  test.each([
    [42, '42'],
    [0, '0'],
    [-1.5, '-1.5'],
    [true, 'true'],
    [false, 'false'],
    [['a', 'b'], '["a","b"]'],
    [{ level: 'info' }, '{"level":"info"}'],
  ])('L-14 with %j is shown with it as text', (value, text) => {
    expect(recordsIn(hitOf({ log: value, time: value, kubernetes: { pod_name: value } }), LOGS)).toEqual([
      { at: 5, record: { log: text, time: text, pod: text } },
    ]);
    expect(messagesIn(hitOf({ log: value }))).toEqual([{ at: 5, log: text }]);
  });

  test.each([undefined, null, '', []])('with %j has none', (value) => {
    expect(recordsIn(hitOf({ log: value, time: value }), LOGS)).toEqual([{ at: 5, record: {} }]);
    expect(messagesIn(hitOf({ log: value }))).toEqual([{ at: 5, log: '' }]);
  });
});

test('the name of a place is found in the beginning of an answer', () => {
  expect(scrollIdIn('{"_scroll_id":"FGluY2x1ZGVf==","took":1,"hits":{"hits":[{"_sou')).toBe('FGluY2x1ZGVf==');
  expect(scrollIdIn('{"took":1,"hits":')).toBeUndefined();
});
