import { describe, expect, test } from 'vitest';
import { AUTHENTICATED, CallerPolicy } from '../../../src/gateway/caller.ts';

const policy = new CallerPolicy({ platform: 'example', names: ['root'] });
const SESSION = 'Impersonate-Extra-example.io%2Fsession';
const ADA = { name: 'ada', groups: ['dev', AUTHENTICATED, 'ops'], sid: 's-1' };
const user = ['Impersonate-User', 'ada'];
const groups = ['Impersonate-Group', 'dev', 'Impersonate-Group', 'ops', 'Impersonate-Group', AUTHENTICATED];
const session = [SESSION, 's-1'];

describe('the headers of a caller', () => {
  test('G-01 are one user, each group once with system:authenticated last, and the session', () => {
    expect(policy.headersOf(ADA)).toEqual([...user, ...groups, ...session]);
    expect(policy.headersOf({ name: 'ada', groups: [] })).toEqual([...user, 'Impersonate-Group', AUTHENTICATED]);
  });

  test('G-01 pass the last look as they are, among others and without a session', () => {
    const other = ['Accept', 'x', 'User-Agent', 'é'];
    for (const headers of [policy.headersOf(ADA), [...other, ...policy.headersOf(ADA)], [...user, ...groups]])
      expect(() => policy.assertOf(headers, ADA)).not.toThrow();
  });

  test.each([
    ['no user', [...groups, ...session], 'not complete'],
    ['no group', [...user, ...session], 'not complete'],
    ['nothing', ['Accept', 'x'], 'not complete'],
    ['two users', [...user, ...user, ...groups], 'not complete'],
    ['another user', ['Impersonate-User', 'bob', ...groups], 'not the caller’s'],
    ['another user besides', [...user, ...groups, 'Impersonate-User', 'bob'], 'not the caller’s'],
    ['a group of others', [...user, ...groups, 'Impersonate-Group', 'qa'], 'not the caller’s'],
    ['a user as a group', [...groups, 'Impersonate-Group', 'ada'], 'not the caller’s'],
    ['another session', [...user, ...groups, SESSION, 's-2'], 'not the caller’s'],
    ['another extra', [...user, ...groups, 'Impersonate-Extra-Scopes', 's-1'], 'not the caller’s'],
    ['a uid', [...user, ...groups, 'Impersonate-Uid', 'u-1'], 'not the caller’s'],
    ['another spelling', [...user, ...groups, 'impersonate-user', 'ada'], 'not the caller’s'],
  ])('G-03 with %s do not pass it', (_, headers, why) => {
    expect(() => policy.assertOf(headers, ADA)).toThrow(why);
  });

  test.each([
    ['user', { ...ADA, name: 'ada ' }],
    ['group', { ...ADA, groups: [' dev'] }],
    ['group', { ...ADA, groups: ['dev\t'] }],
    ['group', { ...ADA, groups: ['dev\r\nImpersonate-Group: root'] }],
    ['group', { ...ADA, groups: ['d\u0000v'] }],
    ['group', { ...ADA, groups: ['d\u007fv'] }],
    ['group', { ...ADA, groups: ['d\ud800v'] }],
    ['group', { ...ADA, groups: [''] }],
    ['session', { ...ADA, sid: 's\u00001' }],
  ])('G-03 with a %s that no header can carry do not pass it', (_, caller) => {
    expect(() => policy.assertOf(policy.headersOf(caller), caller)).toThrow('no header can carry');
  });

  test('G-03 have a group as its UTF-8 octets, and pass for that group alone', () => {
    const caller = { ...ADA, groups: ['Domain Admins', 'Entwickler-S\u00fcd', '\u958b\u767a', '\ud83d\ude80'] };
    const sent = policy.headersOf(caller);
    const octets = (text: string): string => Buffer.from(text).toString('latin1');
    expect(sent.filter((_, index) => index % 2 === 1).slice(1, 5)).toEqual(caller.groups.map(octets));
    expect(() => policy.assertOf(sent, caller)).not.toThrow();
    const others = {
      ...caller,
      groups: ['Domain Admins', 'Entwickler-S\u00c3\u00bcd', '\u958b\u767a', '\ud83d\ude80'],
    };
    expect(() => policy.assertOf(sent, others)).toThrow('not the caller’s');
  });

  test('G-03 of a caller without a session do not pass it with one', () => {
    const { sid: _, ...caller } = ADA;
    expect(() => policy.assertOf([...user, ...groups, ...session], caller)).toThrow('not the caller’s');
  });
});

describe('a caller whom the cluster would take for one of its own', () => {
  test.each([
    ['a user of a reserved name', { ...ADA, name: 'root' }],
    ['a user of the cluster', { ...ADA, name: 'system:admin' }],
    ['nobody', { ...ADA, name: '' }],
    ['somebody in a reserved group', { ...ADA, groups: ['dev', 'root'] }],
    ['somebody in a group of the cluster', { ...ADA, groups: ['dev', 'system:masters'] }],
    ['somebody in a group that no token carries', { ...ADA, withheldGroups: ['system:masters'] }],
  ])('A-31 A-32 is %s, and passes no last look', (_, caller) => {
    expect(policy.isReserved(caller)).toBe(true);
    expect(() => policy.assertOf(policy.headersOf(caller), caller)).toThrow('reserved');
  });

  test('is not somebody whom Kubernetes has only authenticated', () => {
    expect(policy.isReserved(ADA)).toBe(false);
    expect(policy.isReserved({ ...ADA, withheldGroups: [] })).toBe(false);
  });
});
