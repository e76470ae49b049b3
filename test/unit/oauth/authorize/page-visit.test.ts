import { describe, expect, test } from 'vitest';
import { toOwnPath } from '../../../../src/oauth/authorize/page-visit.ts';

describe('W-04 where a sign-in for the page leads', () => {
  test.each([
    '/',
    '/nodes',
    '/nodes?page=2&status=running',
    '/resources/pods.?q=a%20b#shop/cart',
    '/oauthors',
    '/?q=1',
    '/#x',
    '/ui/logs?log_query=/../oauth/logout',
    '/ui/resources/configmaps/shop/..data',
  ])('%s', (path) => expect(toOwnPath(path)).toBe(path));

  test.each([
    undefined,
    '',
    'nodes',
    '//evil.example.com',
    '/\\evil.example.com',
    'https://evil.example.com/',
    'javascript:alert(1)',
    '/oauth/logout',
    '/oauth?x',
    '/oauth',
    '/%6fauth/logout',
    '/./oauth/logout',
    '/ui/../oauth/logout',
    '/ui/%2E%2e/oauth/logout',
    '/ui/.%2e',
    '/nodes\r\nSet-Cookie: a=b',
    '/nodes with blanks',
    '/n\u00f6des',
    '/<script>',
    `/${'n'.repeat(2_048)}`,
  ])('%j is no path of the page: to its first page', (path) => expect(toOwnPath(path)).toBe('/'));
});
