import { describe, expect, test } from 'vitest';
import {
  BENCH_CLIENT,
  BENCH_USERS,
  clientsToldApartAsks,
  floodAsks,
  rightAsks,
  toldApartAsks,
} from '../../../bench/sign-in-asks.ts';

const PASSWORD = 'made-up-password';
const formOf = (body = '') => Object.fromEntries(new URLSearchParams(body));

describe('what the bench asks for to sign in', () => {
  test('a flood is as many wrong passwords as unknown names and right passwords', () => {
    const kinds = floodAsks(PASSWORD).map(({ body }) => {
      const { username = '', password } = formOf(body);
      if (!BENCH_USERS.includes(username)) return 'unknown';
      return password === PASSWORD ? 'right' : 'wrong';
    });
    expect(kinds.slice(0, 4)).toEqual(['wrong', 'unknown', 'right', 'wrong']);
    expect(kinds).toHaveLength(3 * BENCH_USERS.length);
  });

  test('a right one has the password of its user', () => {
    const forms = rightAsks(PASSWORD).map(({ body }) => formOf(body));
    expect(forms.map(({ username }) => username)).toEqual(BENCH_USERS);
    expect(new Set(forms.map(({ password }) => password))).toEqual(new Set([PASSWORD]));
  });

  test('R-03 known and unknown names differ in the name alone, in turns, none of the unknown ones twice', () => {
    const asks = toldApartAsks(300, PASSWORD);
    expect(asks.slice(0, 4).map(({ isUnknown }) => isUnknown)).toEqual([false, true, true, false]);
    const names = (isUnknown: boolean) =>
      asks.filter((one) => one.isUnknown === isUnknown).map(({ ask }) => formOf(ask.body)['username'] ?? '');
    expect(names(false).every((name) => BENCH_USERS.includes(name))).toBe(true);
    expect([new Set(names(true)).size, names(true).some((name) => BENCH_USERS.includes(name))]).toEqual([300, false]);
    expect(new Set(asks.map(({ ask }) => ask.body?.length)).size).toBe(1);
    expect(asks.every(({ ask }) => formOf(ask.body)['password'] !== PASSWORD)).toBe(true);
  });

  test('R-03 a known and an unknown client differ in the name alone, in turns, each time from a new address', () => {
    const asks = clientsToldApartAsks(300);
    expect(asks.slice(0, 4).map(({ isUnknown }) => isUnknown)).toEqual([false, true, true, false]);
    for (const isUnknown of [false, true]) {
      const forms = asks.filter((one) => one.isUnknown === isUnknown).map(({ ask }) => formOf(ask.body));
      const names = new Set(forms.map(({ client_id }) => client_id));
      expect([names.has(BENCH_CLIENT.client_id), names.size]).toEqual(isUnknown ? [false, 300] : [true, 1]);
      expect(forms.some(({ client_secret }) => client_secret === BENCH_CLIENT.client_secret)).toBe(false);
    }
    expect(new Set(asks.map(({ ask }) => ask.body?.length)).size).toBe(1);
    expect(new Set(asks.map(({ ask }) => ask.headers?.['x-forwarded-for'])).size).toBe(600);
    expect(new Set(asks.map(({ ask }) => ask.headers?.['x-forwarded-for']?.length)).size).toBe(1);
  });
});
