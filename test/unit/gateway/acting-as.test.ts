import { describe, expect, test } from 'vitest';
import { asksToImpersonate, readActingAs, rightsToImpersonate } from '../../../src/gateway/acting-as.ts';

test('A-30 a client asks to be somebody else by any header that begins so, and by no value', () => {
  for (const name of ['Impersonate-User', 'impersonate-extra-x', 'IMPERSONATE_GROUP'])
    expect(asksToImpersonate(['Accept', 'x', name, 'a'])).toBe(true);
  expect(asksToImpersonate(['Accept', 'impersonate-user', 'X-Impersonate-User', 'a'])).toBe(false);
  expect(asksToImpersonate([])).toBe(false);
});

describe('whom a call asks to be made as', () => {
  test('is nobody without such a header', () => {
    expect(readActingAs(['Accept', 'impersonate-user'])).toBeUndefined();
  });

  test('is a user and groups, in their order, in UTF-8', () => {
    const latin1 = Buffer.from('Entwickler-Süd').toString('latin1');
    const headers = ['impersonate-user', 'bob', 'IMPERSONATE-GROUP', latin1, 'Impersonate-Group', 'ops', 'X', 'y'];
    expect(readActingAs(headers)).toEqual({ name: 'bob', groups: ['Entwickler-Süd', 'ops'] });
    expect(readActingAs(['Impersonate-User', 'bob', 'Impersonate-Group', ''])).toEqual({ name: 'bob', groups: [] });
  });

  test.each([
    ['two users', 400, ['Impersonate-User', 'a', 'impersonate-user', 'b']],
    ['a group alone', 400, ['Impersonate-Group', 'ops']],
    ['no name', 400, ['Impersonate-User', '']],
    ['bytes that are not UTF-8', 400, ['Impersonate-User', 'b\xff']],
    ['a uid', 403, ['Impersonate-User', 'bob', 'Impersonate-Uid', '7']],
    ['an extra', 403, ['Impersonate-User', 'bob', 'Impersonate-Extra-scopes', 'x']],
    ['another spelling', 403, ['Impersonate_User', 'bob']],
  ])('is refused: %s', (_, code, headers) => {
    expect(() => readActingAs(headers)).toThrow(expect.objectContaining({ answer: expect.objectContaining({ code }) }));
  });

  test('is asked for one by one, the user first', () => {
    expect(rightsToImpersonate({ name: 'bob', groups: ['ops', 'dev'] })).toEqual([
      { resource: 'users', name: 'bob' },
      { resource: 'groups', name: 'ops' },
      { resource: 'groups', name: 'dev' },
    ]);
  });
});
