import { describe, expect, test } from 'vitest';
import { LOGS } from '../../../src/documents/kinds/log-kind.ts';
import { QueryParser } from '../../../src/documents/query/parse-query.ts';
import { StatusError } from '../../../src/status-error.ts';

const NOW = Date.parse('2026-03-09T10:00:00.999Z');
const parse = (text: string) => new QueryParser(LOGS).parse(text, NOW);

/** The fields that a refusal names, in its order, and its message. */
function refusal(text: string): { readonly fields: unknown[]; readonly messages: string[]; readonly message: string } {
  try {
    parse(text);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { code, details, message } = error.answer;
    expect(code).toBe(400);
    const causes = details?.causes ?? [];
    return { fields: causes.map(({ field }) => field), messages: causes.map((cause) => cause.message), message };
  }
  throw new Error(`"${text}" is good`);
}

const fields = (text: string): unknown[] => refusal(text).fields;

describe('a log query', () => {
  test.each([
    '',
    'operation=',
    'operation=&namespaces=&namespace_query=&pods=&log_query=&start_time=&interval=&sort=&from=&size=',
  ])('LT-02 of "%s" has every default', (text) => {
    expect(parse(text)).toEqual({
      operation: 'query',
      scope: { namespaces: [], namespaceParts: [], workspaces: [], workspaceParts: [] },
      conditions: [],
      time: {},
      interval: { count: 15, unit: 'm' },
      page: { order: 'desc', from: 0, size: 10 },
    });
  });

  test.each(['query', 'statistics', 'histogram', 'export'])('may be %s', (operation) => {
    expect(parse(`operation=${operation}`).operation).toBe(operation);
  });

  test.each(Object.entries(LOGS.conditions))(
    'has a list of %s, split on commas, untrimmed, without empty elements',
    (name, comparison) => {
      const values = ['a', 'B ', ' c', 'd e'];
      expect(parse(`${name}=a,,B%20,%20c,d+e,%2C`).conditions).toEqual([{ ...comparison, values }]);
      expect(parse(`${name}=,%2C`).conditions).toEqual([]);
    },
  );

  test('has namespaces as they are, and parts of them in lower case', () => {
    expect(parse('namespaces=a,B').scope).toMatchObject({ namespaces: ['a', 'B'], namespaceParts: [] });
    expect(parse('namespace_query=a,B').scope).toMatchObject({ namespaces: [], namespaceParts: ['a', 'b'] });
  });

  test.each([
    'namespaces',
    'namespace_query',
    'workloads',
    'workload_query',
    'pods',
    'pod_query',
    'containers',
    'container_query',
    'log_query',
  ])('L-08 has at most 64 elements of 256 bytes in %s', (name) => {
    const element = 'ü'.repeat(128);
    expect(parse(`${name}=${Array(64).fill(element).join(',')}`)).toBeDefined();
    expect(fields(`${name}=${Array(65).fill('x').join(',')}`)).toEqual([name]);
    expect(fields(`${name}=${element}x`)).toEqual([name]);
  });

  test('LT-01 has both ends of its time', () => {
    expect(parse('start_time=1&end_time=1').time).toEqual({ start: 1, end: 1 });
    expect(parse('start_time=-5').time).toEqual({ start: -5 });
    expect(parse('end_time=7').time).toEqual({ end: 7 });
  });

  test('LT-02 has an hour ahead as the open end of a histogram, or a later start', () => {
    const hour = Math.floor(NOW / 1_000) + 3_600;
    expect(parse('operation=histogram').time).toEqual({ end: hour });
    expect(parse(`operation=histogram&start_time=${hour + 5}`).time).toEqual({ start: hour + 5, end: hour + 5 });
    expect(parse('operation=export').time).toEqual({});
  });

  test.each(['asc', 'desc'])('may be sorted %s', (sort) => {
    expect(parse(`sort=${sort}`).page.order).toBe(sort);
  });

  test('L-07 has a page within the window', () => {
    expect(parse('from=9990&size=10').page).toEqual({ order: 'desc', from: 9_990, size: 10 });
    expect(parse('size=0').page.size).toBe(0);
    expect(parse('from=00&size=0010').page).toMatchObject({ from: 0, size: 10 });
  });

  test.each([
    ['from=9991&size=10', 'from'],
    ['from=10000', 'from'],
    ['size=10001', 'size'],
    ['size=1000000', 'size'],
    [`size=${'9'.repeat(400)}`, 'size'],
    [`from=${'9'.repeat(400)}`, 'from'],
  ])('L-07 A-45 %s is above the window', (text, field) => {
    expect(fields(text)).toEqual([field]);
    expect(parse(`operation=export&${text}`).operation).toBe('export');
  });

  test.each([
    ['operation=Query', 'operation'],
    ['operation=delete', 'operation'],
    ['sort=ASC', 'sort'],
    ['from=-1', 'from'],
    ['from=1.0', 'from'],
    ['size=abc', 'size'],
    ['size=+1', 'size'], // a space
    ['interval=1ms', 'interval'],
    ['start_time=abc', 'start_time'],
    ['end_time=1700000000000', 'end_time'],
    ['namespace=a', 'namespace'],
    ['Namespaces=a', 'Namespaces'],
    ['__proto__=a', '__proto__'],
    ['pods=a&pods=a', 'pods'],
    ['pods=&pods=', 'pods'],
    ['pods%5B%5D=a', 'pods[]'],
  ])('is refused with %s', (text, field) => {
    expect(fields(text)).toEqual([field]);
  });

  test.each(['statistics', 'histogram', 'export'])('checks what a %s does not use', (operation) => {
    expect(fields(`operation=${operation}&sort=x&interval=x&from=x&size=x`)).toEqual([
      'sort',
      'interval',
      'from',
      'size',
    ]);
  });

  test('names every bad parameter at once, in query order, and the first in its message', () => {
    const text = 'size=x&zone=1&end_time=1&sort=up&start_time=2&operation=find&pods=a&pods=b';
    const { fields: found, messages, message } = refusal(text);
    expect(found).toEqual(['size', 'zone', 'end_time', 'sort', 'operation', 'pods']);
    expect(message).toBe(messages[0]);
    expect(messages[2]).toBe('invalid query parameter "end_time": it is before "start_time"');
  });

  test('LT-05 has no end before its start', () => {
    expect(fields('start_time=2&end_time=1')).toEqual(['end_time']);
    expect(fields('end_time=1&start_time=2&operation=histogram')).toEqual(['end_time']);
  });

  test('judges together only what is good alone', () => {
    expect(fields('start_time=x&end_time=1')).toEqual(['start_time']);
    expect(fields('from=x&size=20000')).toEqual(['from']);
    expect(fields('operation=x&size=20000')).toEqual(['operation']);
  });

  test.each([
    ['start_time=0&end_time=9999&interval=1s', []],
    ['start_time=0&end_time=10000&interval=1s', ['interval']],
    ['start_time=0&end_time=599999&interval=1m', []],
    ['start_time=0&end_time=600000&interval=1m', ['interval']],
    ['start_time=0&end_time=253402300799&interval=1y', []],
    ['start_time=-62135596800&end_time=253402300799&interval=1M', ['interval']],
    ['start_time=0', ['interval']],
    ['interval=1s', []],
  ])('may ask for 10,000 buckets of a closed range, and not for more: %s', (text, wanted) => {
    const histogram = `operation=histogram&${text}`;
    if (wanted.length === 0) expect(parse(histogram).operation).toBe('histogram');
    else expect(fields(histogram)).toEqual(wanted);
    expect(parse(`operation=statistics&${text}`).operation).toBe('statistics');
  });

  test('quotes no more than 64 characters of a value', () => {
    const { message } = refusal(`start_time=${'x'.repeat(5_000)}`);
    expect(message).toBe(`invalid query parameter "start_time": "${'x'.repeat(64)}" is not a time in whole seconds`);
  });
});
