import { describe, expect, test } from 'vitest';
import type { Interval } from '../../../src/documents/query/interval.ts';
import { DIALECTS, dialectIn } from '../../../src/documents/search/dialects.ts';
import { StoreError } from '../../../src/stores/store-error.ts';

/** What the stores answer to `GET /`, as far as it tells them apart. */
const ELASTIC = { tagline: 'You Know, for Search' };
const OPEN = { tagline: 'The OpenSearch Project: https://opensearch.org/' };

describe('a store', () => {
  test.each([
    ['Elasticsearch 6', { ...ELASTIC, version: { number: '6.8.23', build_flavor: 'oss' } }],
    ['Elasticsearch 7', { ...ELASTIC, version: { number: '7.17.29', build_flavor: 'default' } }],
    ['Elasticsearch 7.0 or 7.1', { ...ELASTIC, version: { number: '7.0.1', lucene_version: '8.0.0' } }],
    ['Elasticsearch 7.0 or 7.1', { ...ELASTIC, version: { number: '7.1.1', build_flavor: 'oss' } }],
    ['Elasticsearch 7', { ...ELASTIC, version: { number: '7.2.0' } }],
    ['Elasticsearch 7', { ...ELASTIC, version: { number: '7.10.0' } }],
    ['Elasticsearch 8', { ...ELASTIC, version: { number: '8.19.2', build_flavor: 'default' } }],
    ['OpenSearch 1', { ...OPEN, version: { distribution: 'opensearch', number: '1.3.20' } }],
    ['OpenSearch 2', { ...OPEN, version: { distribution: 'opensearch', number: '2.19.4' } }],
    ['Elasticsearch 7', { ...ELASTIC, version: { number: '7.10.2', lucene_version: '8.7.0' } }],
    [
      'Elasticsearch 9',
      { ...ELASTIC, version: { number: '9.5.0', build_flavor: 'default', lucene_version: '10.3.2' } },
    ],
    ['OpenSearch 3', { ...OPEN, version: { distribution: 'opensearch', number: '3.3.0', lucene_version: '10.3.1' } }],
    // In compatibility mode there is no distribution, and the number is that of an Elasticsearch.
    ['OpenSearch 1', { ...OPEN, version: { number: '7.10.2', lucene_version: '8.10.1' } }],
    ['OpenSearch 2', { ...OPEN, version: { number: '7.10.2', lucene_version: '9.12.3' } }],
    ['OpenSearch 3', { ...OPEN, version: { number: '7.10.2', lucene_version: '10.1.0' } }],
    ['OpenSearch 2', { version: { number: '7.10.2', lucene_version: '9.12.3' } }],
    ['OpenSearch 2', { version: { number: '7.10.2', distribution: 'opensearch', lucene_version: '9.12.3' } }],
    ['OpenSearch 2', { ...OPEN, version: { number: '2.11.0' } }],
  ])('L-14 is known for %s', (name, body) => {
    expect(DIALECTS[dialectIn(body)].name).toBe(name);
  });

  const faultOf = (body: unknown): unknown => {
    try {
      return dialectIn(body);
    } catch (error) {
      return error instanceof StoreError ? [error.kind, error.message.split(',')[0]] : error;
    }
  };

  test.each([
    ['Elasticsearch 5.6.16', { version: { number: '5.6.16' } }],
    ['Elasticsearch 10.0.0', { version: { number: '10.0.0' } }],
    ['Elasticsearch 80.1.0', { version: { number: '80.1.0' } }],
    ['OpenSearch 4.0.0', { version: { distribution: 'opensearch', number: '4.0.0' } }],
    ['OpenSearch 7.10.2', { version: { distribution: 'opensearch', number: '7.10.2' } }],
    ['OpenSearch 7.10.2', { ...OPEN, version: { number: '7.10.2', lucene_version: '11.0.0' } }],
  ])('L-14 of another version is named: %s', (name, body) => {
    expect(faultOf(body)).toEqual(['unsupported', `the log store is ${name}`]);
  });

  test.each([[{ version: { number: '__proto__' } }], [{ version: {} }], [{}], [null], [undefined], ['<html>']])(
    'is none that says no version: %j',
    (body) => {
      expect(faultOf(body)).toEqual(['away', 'the log store does not say its version']);
    },
  );
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
    for (const version of ['7', '8', '9', 'opensearchv1', 'opensearchv2', 'opensearchv3'] as const)
      expect(DIALECTS[version].bucketLength(of)).toEqual(wanted);
    for (const version of ['6', '7.1'] as const)
      expect(DIALECTS[version].bucketLength(of)).toEqual({ interval: Object.values(wanted)[0] });
  });
});
