import { describe, expect, test } from 'vitest';
import type { LoadReport } from '../../../bench/load/load.ts';
import { BENCH_CLIENT, BENCH_USERS } from '../../../bench/peers/gatehouse.ts';
import {
  clientsToldApartAsks,
  floodAsks,
  printSignIn,
  type SignInResults,
  toldApartAsks,
} from '../../../bench/sign-in.ts';

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

const list = (requestsPerSecond: number, p99Ms: number): LoadReport => ({
  requests: requestsPerSecond * 3,
  requestsPerSecond,
  p50Ms: 1,
  p99Ms,
  bytesPerAnswer: 1e5,
  generatorShare: 0.5,
});
const flood = (status: string) => ({ statuses: { [status]: 10, 429: 1000 }, seconds: 3, refreshTokens: [] });

const results = (change: Partial<SignInResults> = {}): SignInResults => ({
  nodes: 100,
  floods: [
    { alone: list(1000, 2), flooded: list(650, 9), flood: flood('200') },
    { alone: list(1000, 2), flooded: list(400, 60), flood: flood('400') },
    { alone: list(2000, 2), flooded: list(1400, 40), flood: flood('400') },
  ],
  toldApart: { known: [60, 61, 62], unknown: [61, 62, 66] },
  clientsToldApart: { known: [0.5, 0.6, 0.7], unknown: [0.5, 0.6, 0.8] },
  signIns: [{ statuses: { 200: 90, 429: 5 }, seconds: 3, serverShare: 1.5, refreshTokens: [] }],
  bcryptPerCore: [25],
  refreshes: [{ refreshes: 900, seconds: 3, p50Ms: 1, p99Ms: 2, serverShare: 0.5, accessTokens: [] }],
  bearers: [{ none: [0.1], cached: [0.2], firstUse: [0.3, 2.5] }],
  ...change,
});

const linesWith = (text: string, part: string): string[] => text.split('\n').filter((line) => line.includes(part));

describe('bench results of sign-ins', () => {
  test('R-02 say what a flood leaves of the list, by the median of the rounds, and how it was answered', () => {
    expect(linesWith(printSignIn(results()), 'Kept')).toEqual([
      'Kept of its requests: 65 %, target ≥ 60 %: met. p99 flooded, target ≤ 50 ms: met.',
    ]);
    expect(linesWith(printSignIn(results()), 'answered')).toEqual([
      'The sign-ins were answered 200 10 times, 400 20 times, 429 3,000 times; only 200, 400, 429 are good: met.',
    ]);
    const floods = [{ alone: list(1000, 2), flooded: list(590, 51), flood: flood('503') }];
    expect(linesWith(printSignIn(results({ floods })), ': MISSED')).toEqual([
      'Kept of its requests: 59 %, target ≥ 60 %: MISSED. p99 flooded, target ≤ 50 ms: MISSED.',
      'The sign-ins were answered 429 1,000 times, 503 10 times; only 200, 400, 429 are good: MISSED.',
    ]);
  });

  test('R-03 say how far medians are apart, and judge the t for enough sign-ins only', () => {
    expect(linesWith(printSignIn(results()), 'apart')).toEqual([
      "Medians apart: 1.00 ms, target ≤ 3 ms: met. Welch's t: 1.22, target < 4.5 over 2,000 of each (--samples).",
      "Medians apart: 0.00 ms, target ≤ 3 ms: met. Welch's t: 0.32, target < 4.5 over 2,000 of each (--samples).",
    ]);
    const alternating = (low: number): number[] => Array.from({ length: 2000 }, (_, index) => low + (index % 2));
    const toldApart = { known: alternating(60), unknown: alternating(65) };
    expect(linesWith(printSignIn(results({ toldApart, clientsToldApart: toldApart })), 'apart')).toEqual(
      Array<string>(2).fill(
        "Medians apart: 5.00 ms, target ≤ 3 ms: MISSED. Welch's t: 316, target < 4.5 over 2,000 of each (--samples): MISSED.",
      ),
    );
  });

  test('R-04 say rates by the cores that the server used, and the time of a bearer', () => {
    const text = printSignIn(results());
    expect([...linesWith(text, 'sign-ins       '), ...linesWith(text, 'refreshes       ')]).toEqual([
      'sign-ins       30.0    150 %      20.0    ≥ 15  met',
      'refreshes       300     50 %       600   ≥ 120  met',
    ]);
    expect(linesWith(text, 'alone makes')).toEqual([
      'bcrypt alone makes 25.0 compares per core here and now: sign-ins reach 80 % of it.',
    ]);
    expect(linesWith(text, 'bearer').slice(-2)).toEqual([
      'list of one node, bearer seen before         0.20    0.20         ≤ 1     met',
      'list of one node, first use of the bearer    0.30    2.50         ≤ 2  MISSED',
    ]);
  });
});
