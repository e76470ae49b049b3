import { describe, expect, test } from 'vitest';
import { allOf } from '../../../../src/resources/query/filter.ts';
import { listParameters } from '../../../../src/resources/query/list-query.ts';
import { StatusError } from '../../../../src/status-error.ts';
import { makeNode, NODE_KIND, parseNodeListQuery, parseNodeWatchQuery, toNodeEntry } from '../node-objects.ts';

const DEFAULTS = { conditions: [], filterKey: '', bookmarks: true };

function refusalOf(query: string, lastEventId?: string) {
  try {
    parseNodeWatchQuery(query, lastEventId);
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
    [...listParameters(NODE_KIND).keys()].filter(
      (name) => !['limit', 'page', 'sortBy', 'ascending', 'timeout', 'pretty', 'watch'].includes(name),
    ),
  )('%s goes with watch as with a list', (name) => {
    const value = name === 'status' ? 'warning' : 'a';
    const { conditions, filterKey } = parseNodeWatchQuery(`watch=1&${name}=${value}`);
    expect(conditions.length).toBe(1);
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
      const from = { kind: 'local', text, sentUpTo: { epoch: '5f0c2e9a7b314d88', version: 1204 } };
      expect(parseNodeWatchQuery(`watch&resourceVersion=${text}`)).toEqual({ ...DEFAULTS, from });
    },
  );

  test.each(['12', 'a-', '-1', 'a-b', 'a-1-br', 'A-1', 'a--1', 'a-1234567890123456'])(
    'resourceVersion=%s is a version that we never gave: too old, and no bad request',
    (text) => {
      expect(parseNodeWatchQuery(`watch&resourceVersion=${text}`).from).toEqual({ kind: 'unknown', text });
    },
  );

  test('the last event id is newer than what stands in the URL', () => {
    expect(parseNodeWatchQuery('watch&resourceVersion=e-1', 'e-2').from?.text).toBe('e-2');
    expect(parseNodeWatchQuery('watch&resourceVersion=e-1', '').from?.text).toBe('e-1');
    expect(parseNodeWatchQuery('watch', 'nonsense').from).toEqual({ kind: 'unknown', text: 'nonsense' });
  });

  test('`lastEventId` in the query is what the header says, for server-sent events alone', () => {
    const idOf = (query: string, header?: string) => parseNodeWatchQuery(`watch&${query}`, header).from?.text;
    expect(idOf('resourceVersion=e-1&lastEventId=e-2', '')).toBe('e-2');
    expect(idOf('resourceVersion=e-1&lastEventId=', '')).toBe('e-1');
    expect(idOf('lastEventId=e-2', 'e-3')).toBe('e-3'); // the header is of this connection, the address may be older
    expect(idOf('lastEventId=e-2')).toBe(undefined);
    expect(parseNodeWatchQuery('watch&lastEventId=non%2Bsense', '').from).toEqual({
      kind: 'unknown',
      text: 'non+sense',
    });
    expect(refusalOf('watch&lastEventId=a&lastEventId=a').details?.causes?.map(({ field }) => field)).toEqual([
      'lastEventId',
    ]);
  });

  test.each(['timeout=10s', 'timeout=5m0s&timeoutSeconds=300', 'pretty=true', 'timeout=0&pretty='])(
    '%s goes with watch, and neither ends nor filters it',
    (query) => {
      const { timeoutSeconds: _, ...rest } = parseNodeWatchQuery(`watch&${query}`);
      expect(rest).toEqual(DEFAULTS);
    },
  );

  test.each(['timeout=10', 'timeout=soon'])('?watch&%s is refused', (query) => {
    expect(refusalOf(`watch&${query}`).details?.causes?.map(({ field }) => field)).toEqual(['timeout']);
  });

  test('a version of the cluster says what is whole, what was seen, and how far one process had sent what followed', () => {
    const complete = { objects: { newest: '1204', count: 3 }, added: { newest: '1317', count: 12 } };
    const seen = { objects: { newest: '1210', count: 4 }, added: { newest: '1317', count: 12 } };
    const sentUpTo = { epoch: '5f0c', version: 77 };
    const fromOf = (text: string) => parseNodeWatchQuery(`watch&resourceVersion=${text}`).from;
    expect(fromOf('1204.3.1317.12')).toMatchObject({ complete, seen: complete });
    expect(fromOf('1210.4.1200.13-1204.3.1317.12-5f0c.77')).toMatchObject({
      kind: 'cluster',
      complete,
      seen,
      sentUpTo,
    });
    for (const text of ['1210.4.1317.12-0', '1210.4.1317.12-0-e1.77'])
      expect(fromOf(text)).toMatchObject({ kind: 'cluster', seen, complete: undefined });
  });

  test('of two states with the same newest change that from which more went was seen last', () => {
    const { from } = parseNodeWatchQuery('watch&resourceVersion=9.2.7.1-9.3.7.0');
    expect(from).toMatchObject({ seen: { objects: { newest: '9', count: 2 }, added: { newest: '7', count: 0 } } });
  });

  const MATCH = 'resourceVersionMatch=NotOlderThan';

  test.each([
    [`sendInitialEvents=true&${MATCH}`, true],
    [`${MATCH}&sendInitialEvents=false&resourceVersion=1204.3.1317.12`, false],
  ])('?watch&%s says whether the whole list comes first', (query, initialEvents) => {
    expect(parseNodeWatchQuery(`watch&${query}`).initialEvents).toBe(initialEvents);
  });

  test.each(['sendInitialEvents=true', MATCH])('?watch&%s lacks the other', (query) => {
    expect(refusalOf(`watch&${query}`).message).toBe(
      'query parameters "sendInitialEvents" and "resourceVersionMatch=NotOlderThan" go together',
    );
  });

  test.each([
    ['sendInitialEvents=maybe', '"maybe" is not a boolean'],
    ['resourceVersionMatch=Exact', '"Exact" is not NotOlderThan'],
    ['fieldSelector=spec.unschedulable=true', '"spec.unschedulable=true" is not metadata.name=… or metadata.name!=…'],
  ])('?watch&%s is refused', (query, why) => {
    expect(refusalOf(`watch&${query}`).message).toContain(why);
  });

  test('?watch&resourceVersionMatch=Exact is refused as a value that is not supported', () => {
    const causes = refusalOf('watch&resourceVersionMatch=Exact').details?.causes;
    expect(causes?.map(({ field, reason }) => [field, reason])).toEqual([
      ['resourceVersionMatch', 'FieldValueNotSupported'],
    ]);
  });

  test('?watch&fieldSelector takes 64 terms and refuses 65', () => {
    const query = (terms: number) => `watch&fieldSelector=${Array(terms).fill('metadata.name!=a').join()}`;
    expect(parseNodeWatchQuery(query(64)).conditions).toHaveLength(1);
    expect(refusalOf(query(65)).details?.causes?.map(({ reason }) => reason)).toEqual(['FieldValueTooMany']);
  });

  test.each(['sendInitialEvents=true', MATCH, 'fieldSelector=metadata.name=a'])(
    '?%s is refused without watch',
    (query) => {
      expect(() => parseNodeListQuery(query)).toThrow(/^unknown query parameter/);
    },
  );

  test.each([
    ['metadata.name=node-a', ['node-a']],
    ['metadata.name==node-a', ['node-a']],
    ['metadata.name!=node-a', ['node-b']],
    ['metadata.name!=node-a,metadata.name!=node-b', []],
    ['', ['node-a', 'node-b']],
  ])('fieldSelector=%s', (text, names) => {
    const { conditions, filterKey } = parseNodeWatchQuery(`watch&fieldSelector=${encodeURIComponent(text)}`);
    const nodes = ['node-a', 'node-b'].map((name) => toNodeEntry(makeNode(name)));
    expect(nodes.filter(allOf(conditions)).map(({ name }) => name)).toEqual(names);
    expect(filterKey === '').toBe(text === '');
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
