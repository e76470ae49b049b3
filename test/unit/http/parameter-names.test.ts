import { describe, expect, test } from 'vitest';
import { parameterNames } from '../../../src/http/access-log.ts';

describe('A-36 the parameters in a log line', () => {
  test.each([
    ['limit=1&labelSelector=a%3Db', ['limit', 'labelSelector']],
    ['verbose&watch&exclude=x', ['verbose', 'watch', 'exclude']],
    ['&&a=1&', ['a']],
    ['eyJcanary.canary.canary', ['other']],
    ['access_token%3Dcanary', ['other']],
    ['Y2FuYXJ5=', ['other']],
    ['Y2FuYXJ5==', ['other']],
    ['=canary', ['other']],
    ['canary&limit=1', ['other', 'limit']],
    [`${'a'.repeat(32)}=1&${'a'.repeat(33)}=1`, ['a'.repeat(32), 'other']],
    ['1a=1&a%20b=1&a+b=1&%63anary=1', ['other', 'other', 'other', 'other']],
  ])('of %s are %j', (query, names) => {
    expect(parameterNames(query)).toEqual(names);
  });

  test('are 32 at most', () => {
    expect(parameterNames('a=1&'.repeat(100))).toHaveLength(32);
  });
});
