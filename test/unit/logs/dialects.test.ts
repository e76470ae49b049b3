import { describe, expect, test } from 'vitest';
import type { Interval } from '../../../src/logs/query/interval.ts';
import { DIALECTS, dialectIn } from '../../../src/logs/store/dialects.ts';
import { StoreError } from '../../../src/logs/store/log-store.ts';

/** What the stores answer to `GET /`, as far as it tells them apart. */
const ELASTIC = { tagline: 'You Know, for Search' };
const OPEN = { tagline: 'The OpenSearch Project: https://opensearch.org/' };

describe('a store', () => {
  test.each([
    ['Elasticsearch 6', { ...ELASTIC, version: { number: '6.8.23', build_flavor: 'oss' } }],
    ['Elasticsearch 7', { ...ELASTIC, version: { number: '7.17.29', build_flavor: 'default' } }],
    ['Elasticsearch 8', { ...ELASTIC, version: { number: '8.19.2', build_flavor: 'default' } }],
    ['OpenSearch 1', { ...OPEN, version: { distribution: 'opensearch', number: '1.3.20' } }],
    ['OpenSearch 2', { ...OPEN, version: { distribution: 'opensearch', number: '2.19.4' } }],
  ])('is known for %s', (name, body) => {
    expect(DIALECTS[dialectIn(body)].name).toBe(name);
  });

  test.each([
    [{ version: { number: '5.6.16' } }],
    [{ version: { number: '9.0.0' } }],
    [{ version: { number: '80.1.0' } }],
    [{ version: { distribution: 'opensearch', number: '3.0.0' } }],
    [{ version: { distribution: 'opensearch', number: '7.10.2' } }],
    [{ version: { number: '__proto__' } }],
    [{ version: {} }],
    [{}],
    [null],
    [undefined],
    ['<html>'],
  ])('is not known for any other: %j', (body) => {
    const known = (() => {
      try {
        return dialectIn(body);
      } catch (error) {
        return error instanceof StoreError ? error.kind : error;
      }
    })();
    expect(known).toBe('away');
  });
});

describe('the length of buckets', () => {
  const interval = (count: number, unit: Interval['unit']): Interval => ({ count, unit });

  test.each([
    [interval(15, 'm'), { fixed_interval: '15m' }],
    [interval(24, 'h'), { fixed_interval: '24h' }],
    [interval(7, 'd'), { fixed_interval: '7d' }],
    [interval(1, 'd'), { calendar_interval: '1d' }],
    [interval(1, 'w'), { calendar_interval: '1w' }],
    [interval(1, 'M'), { calendar_interval: '1M' }],
    [interval(1, 'q'), { calendar_interval: '1q' }],
    [interval(1, 'y'), { calendar_interval: '1y' }],
  ])('L-13 of %o is told by what it is, and to Elasticsearch 6 in one way', (of, wanted) => {
    for (const version of ['7', '8', 'opensearchv1', 'opensearchv2'] as const)
      expect(DIALECTS[version].bucketLength(of)).toEqual(wanted);
    expect(DIALECTS['6'].bucketLength(of)).toEqual({ interval: Object.values(wanted)[0] });
  });
});
