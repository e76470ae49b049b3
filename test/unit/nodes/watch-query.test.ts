import { describe, expect, test } from 'vitest';
import { LIST_PARAMETERS } from '../../../src/nodes/list-parameters.ts';
import { parseNodeListQuery } from '../../../src/nodes/list-query.ts';
import { parseNodeWatchQuery } from '../../../src/nodes/watch-query.ts';
import { StatusError } from '../../../src/status-error.ts';

const DEFAULTS = { filters: {}, filterKey: '', bookmarks: true };

function refusalOf(query: string) {
  try {
    parseNodeWatchQuery(query);
  } catch (error) {
    if (error instanceof StatusError) return error.answer;
  }
  throw new Error(`${query} was taken`);
}

describe('the query of a watch', () => {
  test.each(['watch', 'watch=', 'watch=1', 'watch=t', 'watch=true', 'watch=TRUE'])('?%s asks for all', (query) => {
    expect(parseNodeWatchQuery(query)).toEqual(DEFAULTS);
  });

  test.each(['watch=abc', 'watch=f', 'watch=FALSE', 'watch=yes', 'watch=00'])(
    '?%s was authorised as a watch and is none: it is refused',
    (query) => {
      const word = query.slice('watch='.length);
      const message = `invalid query parameter "watch": "${word}" is neither true nor false`;
      expect(refusalOf(query)).toEqual({
        code: 400,
        reason: 'BadRequest',
        message,
        details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'watch' }] },
      });
    },
  );

  test.each(['watch=false', 'watch=False', 'watch=0'])('?%s is a list', (query) => {
    expect(parseNodeListQuery(query)).toEqual(parseNodeListQuery(''));
  });

  test.each(['limit', 'page', 'sortBy', 'ascending'])('%s does not go with watch', (name) => {
    const message = `query parameter "${name}" does not go with watch`;
    expect(refusalOf(`watch=1&${name}=1`).details?.causes).toEqual([
      { reason: 'FieldValueForbidden', message, field: name },
    ]);
  });

  test.each(
    [...LIST_PARAMETERS.keys()].filter((name) => !['limit', 'page', 'sortBy', 'ascending', 'watch'].includes(name)),
  )('%s goes with watch as with a list', (name) => {
    const value = name === 'status' ? 'warning' : 'a';
    const { filters, filterKey } = parseNodeWatchQuery(`watch=1&${name}=${value}`);
    expect(Object.keys(filters)).toEqual([name]);
    expect(filterKey).toBe(`${name}=${value}`);
  });

  test('has one key for the same conditions in any order, and another for others', () => {
    const keyOf = (query: string): string => parseNodeWatchQuery(query).filterKey;
    expect(keyOf('name=a&uid=b&watch')).toBe(keyOf('watch=1&uid=b&name=a'));
    expect(keyOf('name=a%26uid=b')).not.toBe(keyOf('name=a&uid=b'));
  });

  test.each(['watch&resourceVersion=', 'watch&resourceVersion=0'])('?%s begins with the present state', (query) => {
    expect(parseNodeWatchQuery(query)).toEqual(DEFAULTS);
  });

  test.each(['5f0c2e9a7b314d88-1204', '5f0c2e9a7b314d88-1204-gzip'])(
    'resourceVersion=%s goes on from there',
    (text) => {
      const from = { epoch: '5f0c2e9a7b314d88', version: 1204 };
      expect(parseNodeWatchQuery(`watch&resourceVersion=${text}`)).toEqual({ ...DEFAULTS, from });
    },
  );

  test.each(['12', 'a-', '-1', 'a-b', 'a-1-br', 'A-1', 'a--1', 'a-1234567890123456'])(
    'resourceVersion=%s is no version',
    (text) => {
      expect(refusalOf(`watch&resourceVersion=${text}`).message).toBe(
        `invalid query parameter "resourceVersion": "${text}" is not a version of this list`,
      );
    },
  );

  test('the last event id is newer than what stands in the URL', () => {
    expect(parseNodeWatchQuery('watch&resourceVersion=e-1', 'e-2').from).toEqual({ epoch: 'e', version: 2 });
    expect(parseNodeWatchQuery('watch&resourceVersion=e-1', '').from).toEqual({ epoch: 'e', version: 1 });
    expect(parseNodeWatchQuery('watch&resourceVersion=e-1', 'nonsense')).not.toHaveProperty('from');
  });

  test.each([
    ['', undefined],
    ['0', undefined],
    ['1', 1],
    ['86401', 86_400],
    ['9223372036854775807', 86_400],
  ])('timeoutSeconds=%s', (text, seconds) => {
    expect(parseNodeWatchQuery(`watch&timeoutSeconds=${text}`).timeoutSeconds).toBe(seconds);
  });

  test.each(['-1', 'a', '1.5', '1m'])('timeoutSeconds=%s is refused', (text) => {
    expect(refusalOf(`watch&timeoutSeconds=${text}`).message).toBe(
      `invalid query parameter "timeoutSeconds": "${text}" is not a number of seconds`,
    );
  });

  test.each([
    ['', true],
    ['true', true],
    ['false', false],
    ['0', false],
  ])('allowWatchBookmarks=%s', (text, bookmarks) => {
    expect(parseNodeWatchQuery(`watch&allowWatchBookmarks=${text}`).bookmarks).toBe(bookmarks);
  });

  test('names every bad parameter in query order', () => {
    const answer = refusalOf('foo=1&limit=2&watch=maybe&allowWatchBookmarks=x&name=a&name=b&labelSelector=!');
    expect(answer.details?.causes?.map(({ field, reason }) => [field, reason])).toEqual([
      ['foo', 'FieldValueForbidden'],
      ['limit', 'FieldValueForbidden'],
      ['watch', 'FieldValueInvalid'],
      ['allowWatchBookmarks', 'FieldValueInvalid'],
      ['name', 'FieldValueDuplicate'],
      ['labelSelector', 'FieldValueInvalid'],
    ]);
  });
});
