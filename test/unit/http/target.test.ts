import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOAuthPath, parseTarget } from '../../../src/http/target.ts';
import { Largest } from '../../support/largest.ts';
import { checkSizes } from '../../support/property.ts';

const segmentsOf = (raw: string): unknown => {
  const target = parseTarget(raw, 'h');
  return 'fault' in target ? target.fault : target.segments;
};

describe('the canonical path', () => {
  test.each([
    ['/', []],
    ['/a', ['a']],
    ['/a/', ['a']],
    ['/a/b%20c', ['a', 'b c']],
    ['/caf%C3%A9', ['café']],
    ['/a;b=c', ['a;b=c']],
    ['/a...', ['a...']],
    ['/.a', ['.a']],
    ['/a%25zz', ['a%zz']],
    ['/A/a', ['A', 'a']],
  ])('A-25 decodes %s once', (raw, segments) => {
    expect(segmentsOf(raw)).toEqual(segments);
  });

  test.each([
    ['/..', 'the path has a dot segment'],
    ['/a/%2E', 'the path has a dot segment'],
    ['/a//b', 'the path has an empty segment'],
    ['//', 'the path has an empty segment'],
    ['/a\\b', 'the path has a backslash'],
    ['/a%2Fb', 'the path has an encoded slash, backslash or control character'],
    ['/a%5Cb', 'the path has an encoded slash, backslash or control character'],
    ['/a%C2%85b', 'the path has an encoded slash, backslash or control character'],
    ['/a%zz', 'the path is not valid percent-encoded UTF-8'],
    ['/a%C3', 'the path is not valid percent-encoded UTF-8'],
    ['/a#b', 'the request target has a character that must be encoded'],
    ['/\u00e9', 'the request target has a character that must be encoded'],
    ['*', 'the request target is not a path'],
    ['', 'the request target is not a path'],
    ['ftp://h/a', 'the request target is not a path'],
    ['http://other/a', 'the request target names another host'],
    ['http://h@other/a', 'the request target names another host'],
  ])('A-25 refuses %s: %s', (raw, fault) => {
    expect(segmentsOf(raw)).toBe(fault);
  });

  test('keeps the query as it was sent', () => {
    expect(parseTarget('/a?b=%zz&c=\\?d', 'h')).toEqual({ segments: ['a'], path: '/a', query: 'b=%zz&c=\\?d' });
  });

  test('reduces an absolute target of the same authority', () => {
    expect(parseTarget('http://H', 'h')).toEqual({ segments: [], path: '/', query: '' });
    expect(parseTarget('HTTPS://h:1/a?b', 'h:1')).toEqual({ segments: ['a'], path: '/a', query: 'b' });
    expect(parseTarget('http://h?b', 'h')).toEqual({ segments: [], path: '/', query: 'b' });
  });

  test.each([
    ['http://h:80/a', 'h'],
    ['http://h/a', 'h:80'],
    ['http://H:/a', 'h'],
    ['https://h:443/a', 'h'],
    ['https://[2001:db8::1]:443/a', '[2001:db8::1]'],
  ])('reduces %s for the Host %s: the default port may be written or not', (raw, host) => {
    expect(parseTarget(raw, host)).toEqual({ segments: ['a'], path: '/a', query: '' });
  });

  test.each([
    ['http://h:443/a', 'h'],
    ['https://h:80/a', 'h'],
    ['http://h:8080/a', 'h'],
    ['http://h:080/a', 'h'],
    ['http://h:80:80/a', 'h'],
    ['http://:80/a', 'h'],
    ['http://h:80/a', undefined],
    ['http://:80/a', undefined],
  ])('A-25 refuses %s for the Host %s', (raw, host) => {
    expect(parseTarget(raw, host)).toEqual({ fault: 'the request target names another host' });
  });

  test('A-25 whatever is accepted has no segment that could be read in two ways', () => {
    const piece = fc.constantFrom('a', '.', '/', '%2e', '%2F', '%5c', '%00', '%', '\\', ';', '%25', '%c3%a9', '?', '#');
    const largest = new Largest('a request target', 'pieces');
    checkSizes(({ upTo }) =>
      fc.property(fc.array(piece, upTo(60)), (pieces) => {
        largest.see(pieces.length);
        const target = parseTarget(`/${pieces.join('')}`, 'h');
        if ('fault' in target) return;
        for (const segment of target.segments) {
          expect(['', '.', '..']).not.toContain(segment);
          expect(segment).not.toMatch(/[/\\\p{Cc}]/u);
        }
      }),
    );
    largest.expectAtLeast(60);
  });
});

describe('paths that speak OAuth', () => {
  test.each([
    ['/oauth', true],
    ['/oauth/', true],
    ['/oauth?x', true],
    ['/oauth/../x', true],
    ['http://a/oauth/../x', true],
    ['HTTPS://a/oauth?x', true],
    ['http://oauth/x', false],
    ['http://a/oauthx', false],
    ['http://a', false],
    ['/oauthx', false],
    ['/kapis', false],
  ])('%s: %s', (raw, expected) => {
    expect(isOAuthPath(raw)).toBe(expected);
  });
});
