import { describe, expect, test } from 'vitest';
import { allOf } from '../../../../src/resources/query/filter.ts';
import { createListQueryParser } from '../../../../src/resources/query/list-query.ts';
import { StatusError } from '../../../../src/status-error.ts';
import { makeNode, NODE_KIND, parseNodeListQuery, toNodeEntry } from '../node-objects.ts';

const DEFAULTS = { limit: -1n, page: 1n, sortBy: 'creationTimestamp', ascending: false, conditions: [], filterKey: '' };

function refusalOf(query: string): StatusError {
  try {
    parseNodeListQuery(query);
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error(`${query} was accepted`);
}

/** The fields of the causes, in order. */
const fieldsOf = (query: string) => refusalOf(query).answer.details?.causes?.map((cause) => cause.field);

describe('node list query', () => {
  test('NQ-01 no parameter means all, page 1, by creation time, descending, unfiltered', () => {
    expect(parseNodeListQuery('')).toEqual(DEFAULTS);
  });

  test('NQ-02 every kind of parameter at once', () => {
    const query = parseNodeListQuery(
      'label=app.kubernetes.io/name=book&name=foo&status=running&page=1&limit=10&ascending=true',
    );
    expect(query).toMatchObject({ limit: 10n, page: 1n, sortBy: 'creationTimestamp', ascending: true });
    const chosen = (name: string, app: string, spec = {}): boolean =>
      allOf(query.conditions)(toNodeEntry(makeNode(name, { labels: { 'app.kubernetes.io/name': app } }, { spec })));
    expect([chosen('foot', 'book'), chosen('fo', 'book'), chosen('foo', 'film')]).toEqual([true, false, false]);
    expect(chosen('foo', 'book', { unschedulable: true })).toBe(false);
  });

  test('NQ-03 a status word in the wrong case is refused', () => {
    expect(
      fieldsOf('label=app.kubernetes.io/name=book&name=foo&status=Running&page=1&limit=10&ascending=true'),
    ).toEqual(['status']);
  });

  test('NQ-04 every bad parameter is named, in query order, and the message is the first', () => {
    const query = 'xxxx=xxxx&dsfsw=xxxx&page=abc&limit=add&ascending=ssss';
    expect(fieldsOf(query)).toEqual(['xxxx', 'dsfsw', 'page', 'limit', 'ascending']);
    expect(refusalOf(query).answer.message).toBe('unknown query parameter "xxxx"');
  });

  test('all pages of a filter have one key, in any order of the parameters and in any spelling, and another filter another one', () => {
    const keyOf = (query: string): string => parseNodeListQuery(query).filterKey;
    const key = keyOf('name=a&status=running');
    expect(keyOf('page=2&status=running&limit=10&n%61me=%61&sortBy=name')).toBe(key);
    expect(['name=a%26status=running', 'name=a&status=warning', 'names=a&status=running'].map(keyOf)).not.toContain(
      key,
    );
  });

  test('NQ-05 empty paging, order and selector are the defaults', () => {
    expect(parseNodeListQuery('limit=&page=&sortBy=&ascending=')).toEqual(DEFAULTS);
    const { conditions, ...rest } = parseNodeListQuery('limit=&page=&sortBy=&ascending=&labelSelector=');
    expect({ ...rest, conditions: [], filterKey: '' }).toEqual(DEFAULTS);
    expect(conditions.map((holds) => holds(toNodeEntry(makeNode('node-a'))))).toEqual([true]);
  });

  test.each([
    ['timeout=10s', 10_000],
    ['timeout=1m30s', 90_000],
    ['%74imeout=250ms', 250],
    ['timeout=1.5us', 0.0015],
    ['timeout=1000h', 3_600_000_000],
  ])('NQ-17 %s is a Go duration: how long the caller waits', (query, timeoutMs) => {
    expect(parseNodeListQuery(query)).toEqual({ ...DEFAULTS, timeoutMs });
  });

  test.each([
    'timeout=',
    'timeout=0',
    'timeout=0s',
    'timeout=-5s',
    'pretty=true',
    'pretty=',
    'pretty',
    'pretty=1&timeout=0',
  ])('NQ-17 %s changes nothing', (query) => {
    expect(parseNodeListQuery(query)).toEqual(DEFAULTS);
  });

  test.each(['10', '10 s', '1d', 'ten', '9223372036854775808ns', '%ff'])('NQ-17 timeout=%s is refused', (text) => {
    if (text === '%ff') return expect(fieldsOf(`timeout=${text}`)).toBe(undefined);
    expect(fieldsOf(`timeout=${text}`)).toEqual(['timeout']);
    expect(refusalOf(`timeout=${text}`).answer.message).toBe(
      `invalid query parameter "timeout": "${text}" is not a duration such as 10s or 1m30s`,
    );
  });

  test.each(['timeout=1s&timeout=1s', 'Timeout=1s', 'lastEventId=e-1', 'requestTimeout=1s', 'dryRun=All'])(
    'NQ-17 %s stays refused',
    (query) => {
      expect(fieldsOf(query)).toHaveLength(1);
    },
  );

  test.each([
    ['limit=%2B2', 2n],
    ['limit=007', 7n],
    ['limit=-0', 0n],
    ['limit=9223372036854775807', 9223372036854775807n],
    ['limit=-9223372036854775808', -9223372036854775808n],
  ])('NQ-06 %s is an integer', (query, limit) => {
    expect(parseNodeListQuery(query).limit).toBe(limit);
  });

  test('NQ-07 a raw plus is a space, so limit=+2 is refused', () => {
    expect(refusalOf('limit=+2').answer.message).toBe('invalid query parameter "limit": " 2" is not an integer');
  });

  test.each(['abc', '1.5', '1e3', '0x10', 'NaN', '1_0', '%201', '9223372036854775808'])(
    'NQ-08 limit=%s is refused',
    (text) => {
      expect(fieldsOf(`limit=${text}`)).toEqual(['limit']);
    },
  );

  test('NQ-09 page=abc is refused even without a limit', () => {
    expect(fieldsOf('page=abc')).toEqual(['page']);
  });

  test.each(['limit=1;page=2', 'name=a;b', ';'])('NQ-10 a semicolon has to be encoded: %s', (text) => {
    expect(refusalOf(text).answer).toMatchObject({
      code: 400,
      message: 'the query string has a semicolon that is not encoded',
    });
  });

  test.each([
    ['limit=1&limit=1', 'limit'],
    ['name=a&name=b', 'name'],
    ['name=a&n%61me=a&name=a', 'name'],
  ])('NQ-11 %s is refused as repeated, once', (query, name) => {
    expect(refusalOf(query).answer.details?.causes).toEqual([
      { reason: 'FieldValueDuplicate', message: `query parameter "${name}" is given more than once`, field: name },
    ]);
  });

  test.each([
    'sortBy=updateTime',
    'sortBy=__proto__',
    'sortBy=NAME',
    'ascending=yes',
    'ascending=tRuE',
    'ascending=01',
  ])('NQ-12 %s is refused', (query) => {
    expect(fieldsOf(query)).toEqual([query.split('=')[0]]);
  });

  test.each(['1', 't', 'T', 'TRUE', 'true', 'True'])('ascending=%s is true', (word) => {
    expect(parseNodeListQuery(`ascending=${word}`).ascending).toBe(true);
  });

  test.each(['0', 'f', 'F', 'FALSE', 'false', 'False'])('ascending=%s is false', (word) => {
    expect(parseNodeListQuery(`ascending=${word}`).ascending).toBe(false);
  });

  test.each([
    ['foo', 'foo'],
    ['Limit=1', 'Limit'],
    ['=x', ''],
    ['__proto__=1', '__proto__'],
    ['reverse=true', 'reverse'],
    ['fieldSelector=metadata.name=x', 'fieldSelector'],
    ['resourceVersion=0', 'resourceVersion'],
    ['timeoutSeconds=1', 'timeoutSeconds'],
    ['continue=x', 'continue'],
    ['_=1', '_'],
  ])('NQ-13 ?%s is an unknown parameter', (query, name) => {
    expect(refusalOf(query).answer.details?.causes).toEqual([
      { reason: 'FieldValueForbidden', message: `unknown query parameter "${name}"`, field: name },
    ]);
  });

  test('NQ-13 empty pairs are skipped', () => {
    expect(parseNodeListQuery('&limit=2&')).toEqual({ ...DEFAULTS, limit: 2n });
  });

  test.each(['name=%zz', 'name=%ff', 'name=%', '%c0%80=1', 'foo=1&limit=abc&name=%ed%a0%80'])(
    'NQ-14 NE-19 %s is not a valid query string: 400 without causes',
    (query) => {
      expect(refusalOf(query).answer).toEqual({
        code: 400,
        reason: 'BadRequest',
        message: 'the query string is not valid percent-encoded UTF-8',
      });
    },
  );

  test('NQ-15 the value of an unknown parameter appears nowhere', () => {
    const { answer } = refusalOf('access_token=very-secret');
    expect(answer.message).toBe('unknown query parameter "access_token"');
    expect(JSON.stringify(answer)).not.toContain('very-secret');
  });

  test.each([
    ['a'.repeat(4097), 'longer than 4096 bytes', 'FieldValueTooLong'],
    [encodeURIComponent('é'.repeat(2049)), 'longer than 4096 bytes', 'FieldValueTooLong'],
    [Array(65).fill('a').join(','), 'more than 64 requirements', 'FieldValueTooMany'],
  ])('NQ-16 NE-16 a selector beyond its limits is refused', (selector, what, reason) => {
    for (const name of ['labelSelector', 'label', 'annotation']) {
      expect(refusalOf(`${name}=${selector}`).answer.details?.causes).toEqual([
        { reason, message: `invalid query parameter "${name}": ${what}`, field: name },
      ]);
    }
  });

  test('NE-10 the exact answer to limit=abc', () => {
    const message = 'invalid query parameter "limit": "abc" is not an integer';
    expect(refusalOf('limit=abc').answer).toEqual({
      code: 400,
      reason: 'BadRequest',
      message,
      details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'limit' }] },
    });
  });

  test.each([
    ['NE-11', 'limit=9223372036854775808', 'FieldValueInvalid', '"9223372036854775808" is not a 64-bit integer'],
    ['NE-12', 'sortBy=age', 'FieldValueNotSupported', '"age" is not one of name, createTime, creationTimestamp'],
    ['NE-13', 'ascending=yes', 'FieldValueInvalid', '"yes" is not a boolean'],
    ['NE-14', 'status=Running', 'FieldValueNotSupported', '"Running" is not one of running, warning, unschedulable'],
    ['NE-14', 'status=', 'FieldValueNotSupported', '"" is not one of running, warning, unschedulable'],
    [
      'NE-15',
      'label=a%20b',
      'FieldValueInvalid',
      'found "b", expected "=", "==", "!=", "<", ">", "in", "notin", "," or the end',
    ],
    ['NF-08', 'label=zone:a', 'FieldValueInvalid', '"zone:a" is not a label key'],
  ])('%s %s is refused with its message', (_id, query, reason, what) => {
    const field = query.split('=')[0];
    expect(refusalOf(query).answer.details?.causes).toEqual([
      { reason, message: `invalid query parameter "${field}": ${what}`, field },
    ]);
  });

  test('an echoed value is cut at 64 characters, not inside one', () => {
    expect(refusalOf(`limit=${'x'.repeat(65)}`).answer.message).toBe(
      `invalid query parameter "limit": "${'x'.repeat(64)}" is not an integer`,
    );
    expect(refusalOf(`limit=${encodeURIComponent('😀'.repeat(100))}`).answer.message).toBe(
      `invalid query parameter "limit": "${'😀'.repeat(64)}" is not an integer`,
    );
    expect(refusalOf('z'.repeat(1000)).answer.message).toBe(`unknown query parameter "${'z'.repeat(64)}"`);
  });

  test('HL-07 more than 64 parameters are refused', () => {
    expect(fieldsOf(Array(64).fill('foo=1').join('&'))).toEqual(['foo']);
    expect(refusalOf(Array(65).fill('foo=1').join('&')).answer).toEqual({
      code: 400,
      reason: 'BadRequest',
      message: 'the query string has more than 64 parameters',
    });
  });

  test.each([
    ['names=a,%20b', ['a', ' b'], ['b', 'a,b']],
    ['name=a+b', ['xa b'], ['a+b']],
  ])('the text of a filter is taken as it is: %s', (text, chosen, others) => {
    const holds = allOf(parseNodeListQuery(text).conditions);
    const isChosen = (name: string): boolean => holds({ ...toNodeEntry(makeNode('node-a')), name });
    expect([chosen.map(isChosen), others.map(isChosen)]).toEqual([chosen.map(() => true), others.map(() => false)]);
  });

  test('a text is read once while it is among the last ones, unless it is long or refused', () => {
    const parse = createListQueryParser(NODE_KIND);
    const [short, long] = ['limit=6', `name=${'a'.repeat(252)}`];
    const first = parse(short);
    expect([parse(short), parse('limit=6&page=1')]).toEqual([first, first]);
    expect(parse(short)).toBe(first);
    expect(parse(long)).not.toBe(parse(long));
    for (let round = 0; round < 2; round++) expect(() => parse('limit=x')).toThrow('not an integer');
    for (let limit = 100; limit < 164; limit++) parse(`limit=${limit}`);
    expect(parse(short)).not.toBe(first);
  });
});
