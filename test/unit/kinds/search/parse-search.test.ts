import { describe, expect, test } from 'vitest';
import { parseSearchQuery } from '../../../../src/kinds/search/parse-search.ts';
import { StatusError } from '../../../../src/status-error.ts';

/** The causes of the refusal, or what is sought. */
function read(query: string): unknown {
  try {
    return parseSearchQuery(query);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return [
      error.answer.code,
      ...(error.answer.details?.causes ?? []).map(({ field, reason }) => `${field} ${reason}`),
    ];
  }
}

const LONGEST = 'a'.repeat(253);

describe('the parameters of a search', () => {
  test.each([
    ['q=web', { sought: { text: 'web' }, limit: 50 }],
    ['q=web&limit=', { sought: { text: 'web' }, limit: 50 }],
    ['q=web&limit=0', { sought: { text: 'web' }, limit: 0 }],
    ['limit=500&q=system%3Anode', { sought: { text: 'system:node' }, limit: 500 }],
    [`q=${LONGEST}`, { sought: { text: LONGEST }, limit: 50 }],
    ['q=app%3Dweb&timeout=10s&pretty=true', { sought: { label: { key: 'app', value: 'web' } }, limit: 50 }],
    ['q=app=', { sought: { label: { key: 'app', value: '' } }, limit: 50 }],
    ['q=example.com/tier=db', { sought: { label: { key: 'example.com/tier', value: 'db' } }, limit: 50 }],
  ])('KD-40 are a text or a label, and a limit: %s', (query, expected) => {
    expect(read(query)).toEqual(expected);
  });

  test.each([
    ['', ['q FieldValueRequired']],
    ['q=', ['q FieldValueRequired']],
    ['limit=5', ['q FieldValueRequired']],
    ['q=a&q=a', ['q FieldValueDuplicate']],
    [`q=${LONGEST}a`, ['q FieldValueTooLong']],
    ['q=a%0Ab', ['q FieldValueInvalid']],
    ['q=a%00', ['q FieldValueInvalid']],
    ['q=%3Dweb', ['q FieldValueInvalid']],
    ['q=a%3D%3Db', ['q FieldValueInvalid']],
    ['q=a!%3Db', ['q FieldValueInvalid']],
    ['q=a%3Db,c%3Dd', ['q FieldValueInvalid']],
    ['q=a%20%3Db', ['q FieldValueInvalid']],
    ['q=-a%3Db', ['q FieldValueInvalid']],
    ['q=a%3Db/c', ['q FieldValueInvalid']],
    [`q=a%3D${'b'.repeat(64)}`, ['q FieldValueInvalid']],
    [`q=${'a/'.repeat(3000)}%3Db`, ['q FieldValueTooLong']],
    ['q=a&limit=501', ['limit FieldValueInvalid']],
    ['q=a&limit=-1', ['limit FieldValueInvalid']],
    ['q=a&limit=9223372036854775808', ['limit FieldValueInvalid']],
    ['q=a&limit=x&page=2', ['limit FieldValueInvalid', 'page FieldValueForbidden']],
    ['q=a&watch=true', ['watch FieldValueForbidden']],
    ['q=a&timeout=x', ['timeout FieldValueInvalid']],
  ])('KD-40 are refused by name: %s', (query, causes) => {
    expect(read(query)).toEqual([400, ...causes]);
  });
});
