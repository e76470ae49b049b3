import { describe, expect, test } from 'vitest';
import { readBearer } from '../../../../src/oauth/endpoints/authorization-header.ts';

describe('an Authorization header', () => {
  test.each([
    ['N-27', undefined, 'absent'],
    ['N-27', '', 'absent'],
    ['N-27', 'Basic YTpi', 'absent'],
    ['N-27', 'Bearerx', 'absent'],
    ['N-32', 'bEaReR t', 'token'],
    ['N-32', 'Bearer   a.b-c_d~e+f/g==', 'token'],
    ['N-29', 'Bearer', 'malformed'],
    ['N-29', 'Bearer ', 'malformed'],
    ['N-29', 'Bearer a b', 'malformed'],
    ['N-33', 'Bearer a,b', 'unfit'],
    ['N-33', 'Bearer a=b', 'unfit'],
    ['N-33', 'Bearer "a"', 'unfit'],
    ['N-33', `Bearer ${'a'.repeat(8_193)}`, 'unfit'],
    ['N-33', `Bearer ${'a'.repeat(8_192)}`, 'token'],
  ])('%s %s is %s', (_, header, kind) => {
    expect(readBearer(header, 8_192).kind).toBe(kind);
  });

  test('gives the token exactly as it was sent', () => {
    expect(readBearer('Bearer aA0-._~+/==', 100)).toEqual({ kind: 'token', text: 'aA0-._~+/==' });
  });
});
