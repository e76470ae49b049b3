import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSelector, type Selector } from '../../../../src/resources/query/selector.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizes } from '../../../support/property.ts';

function selector(text: string): Selector {
  const parsed = parseSelector(text);
  if ('matches' in parsed) return parsed;
  throw new Error(`${text}: ${parsed.message}`);
}

const problemOf = (text: string) => {
  const parsed = parseSelector(text);
  return 'matches' in parsed ? undefined : parsed;
};

const ACCEPTED = [
  ...['', ' ', 'a', '!a', '! a', 'a=', 'a=b', 'a==b', 'a!=b', 'a!=', 'a = b', '\t\r\n a'],
  ...['a in (b)', 'a in(b, c)', 'a in ()', 'a in (,)', 'a in (b,)', 'a in (b,,c)', 'a in (b,,,)'],
  ...['a notin (b)', 'a notin ()', 'in', 'in=a', 'in in (in)', 'notin notin (notin)', 'a=in', 'a>1', 'a<1', 'a>01'],
  ...['a=b,c=d', 'a=b, !c', 'a,b', 'a in (b),c notin (d),!e,f', 'a=,b='],
  ...['a/b=c', 'a.b/C_d=E.f', 'kubernetes.io/hostname=node-1'],
  ...[`a=${'x'.repeat(63)}`, `${'a'.repeat(253)}/b`, `a>${2n ** 63n - 1n}`, Array(64).fill('a').join(',')],
];

const REFUSED = [
  ...[',a=b', 'a=b,', 'a=b,,c=d', '!', '!!a', '(a)', 'a)', '=b', '!=b', 'a===b', 'a=!b', '!a=b', '!a in (b)'],
  ...['a in', 'a in b', 'a in (b', 'a in (b c)', 'a IN (b)', 'a b', 'a exists', 'a gt 1', 'a~b', '*', 'a=*'],
  ...['a>', 'a>b', 'a>1.5', 'a>-1', 'a:b', 'a=b:c', 'a=b c', 'a="b"', 'a=b;c=d', 'a=é', '/b=c', 'a/b/c=d', 'A/b=c'],
  ...['-a', 'a-', 'a=-b', `a=${'x'.repeat(64)}`, 'x'.repeat(64), `${'a'.repeat(254)}/b`, 'a./b', 'a/', 'a! =b'],
  ...['a\u00a0', `a>${2n ** 63n}`, 'a in ((b))', 'a in (b,,)', 'a in (,,)', 'a notin (b,,,,)'],
];

describe('selector grammar', () => {
  test.each(ACCEPTED)('accepts %j', (text) => {
    expect(problemOf(text)).toBeUndefined();
  });

  test.each(REFUSED)('refuses %j', (text) => {
    expect(problemOf(text)?.reason).toBe('FieldValueInvalid');
  });

  test.each([
    ['a=b,', 'found the end, expected a label key'],
    ['a b', 'found "b", expected "=", "==", "!=", "<", ">", "in", "notin", "," or the end'],
    ['a=b c', 'found "c", expected "," or the end'],
    ['a in b', 'found "b", expected "("'],
    ['a in (b c)', 'found "c", expected "," or ")"'],
    ['a in (b,,)', 'found ")", expected "," or a label value'],
    ['a=b:c', '"b:c" is not a label value'],
    ['a>1.5', '"1.5" is not an integer'],
    [`a>${2n ** 63n}`, '"9223372036854775808" is not a 64-bit integer'],
    [`a~${'b'.repeat(100)}`, `"a~${'b'.repeat(62)}" is not a label key`],
  ])('says what it found and expected: %j', (text, message) => {
    expect(problemOf(text)).toEqual({ reason: 'FieldValueInvalid', message });
  });

  test('counts bytes and requirements', () => {
    expect(problemOf(`a in (${'b,'.repeat(2044)})`)).toBeUndefined();
    expect(problemOf('é'.repeat(2049))).toEqual({ reason: 'FieldValueTooLong', message: 'longer than 4096 bytes' });
    expect(problemOf(Array(65).fill('a').join(','))).toEqual({
      reason: 'FieldValueTooMany',
      message: 'more than 64 requirements',
    });
  });

  test('answers any text with a selector or a problem', () => {
    const unit = fc.constantFrom(...'ab1/.-_=!<>(), \t'.split(''), 'in', 'notin');
    const largest = new Largest('a selector', 'characters');
    checkSizes(({ upTo }) =>
      fc.property(fc.string({ unit, ...upTo(400) }), (input) => {
        largest.see(input.length);
        const parsed = parseSelector(input);
        return 'matches' in parsed ? typeof parsed.matches({ a: 'b' }) === 'boolean' : parsed.message !== '';
      }),
    );
    largest.expectAtLeast(400);
  });
});

describe('selector match', () => {
  const workspace = { 'gatehouse.io/workspace': 'system' };

  test.each(['', '!=', '=system'])('NM-01 workspace%s matches', (rest) => {
    expect(selector(`gatehouse.io/workspace${rest}`).matches(workspace)).toBe(true);
  });

  test.each(['=', '!=system', '=sys'])('NM-02 workspace%s does not match', (rest) => {
    expect(selector(`gatehouse.io/workspace${rest}`).matches(workspace)).toBe(false);
  });

  test('NM-03 another key does not match', () => {
    expect(selector('gatehouse.io/workspace').matches({ 'gatehouse.io/creator': 'system' })).toBe(false);
  });

  test.each(['', '!a', 'a!=b', 'a notin (b)'])('NM-04 %j matches no labels', (text) => {
    expect(selector(text).matches(undefined)).toBe(true);
    expect(selector(text).matches({})).toBe(true);
  });

  test.each(['a', 'a=', 'a in ()', 'a>1'])('NM-05 %j does not match no labels', (text) => {
    expect(selector(text).matches(undefined)).toBe(false);
    expect(selector(text).matches({})).toBe(false);
  });

  test.each(['a', 'a=', 'a in ()'])('NM-06 %j matches an empty value', (text) => {
    expect(selector(text).matches({ a: '' })).toBe(true);
  });

  test.each(['a!=', 'a notin ()'])('NM-07 %j does not match an empty value', (text) => {
    expect(selector(text).matches({ a: '' })).toBe(false);
  });

  test.each([
    ['2', 'a>1', true],
    ['02', 'a>01', true],
    ['1', 'a>1', false],
    ['x', 'a>1', false],
    ['-5', 'a<1', true],
    ['1', 'a<1', false],
    ['9223372036854775808', 'a>1', false],
  ])('NM-08 a: %s compares as a 64-bit integer', (value, text, expected) => {
    expect(selector(text).matches({ a: value })).toBe(expected);
  });

  test('NM-08 a long run of digits is no 64-bit integer', () => {
    expect(selector('a>1').matches({ a: '9'.repeat(300_000) })).toBe(false);
  });

  test('NM-09 requirements are ANDed', () => {
    expect(selector('a=b,a=c').matches({ a: 'b' })).toBe(false);
    expect(selector('a=b,c').matches({ a: 'b', c: '' })).toBe(true);
  });

  test('reads own labels only', () => {
    expect(selector('constructor').matches({})).toBe(false);
    expect(selector('!toString').matches({})).toBe(true);
  });
});
