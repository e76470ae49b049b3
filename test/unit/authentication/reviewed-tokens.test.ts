import { describe, expect, test } from 'vitest';
import { ReviewedTokens } from '../../../src/authentication/reviewed-tokens.ts';
import { usedHeap } from '../../support/used-heap.ts';
import { IDENTITY } from './robots.ts';

const good = { identity: IDENTITY, at: 0, expiresAt: 1 };
const goodOf = (name: string) => ({ ...good, identity: { ...IDENTITY, name } });
const refused = { at: 0, expiresAt: 1 };

describe('the memory of reviewed tokens', () => {
  test('keeps the last answer for a token', () => {
    const tokens = new ReviewedTokens();
    for (const answer of [good, refused, good]) {
      tokens.set('a', answer);
      expect(tokens.get('a')).toBe(answer);
    }
  });

  test('forgets the one asked for longest ago, beyond 10,000 good ones', () => {
    const tokens = new ReviewedTokens();
    for (let index = 0; index < 10_000; index++) tokens.set(`${index}`, good);
    tokens.set('0', good);
    tokens.set('new', good);
    expect(['0', '1', '2', 'new'].map((digest) => tokens.get(digest))).toEqual([good, undefined, good, good]);
  });

  test('forgets that of the service account asked for longest ago, where 10,000 have one each', () => {
    const tokens = new ReviewedTokens();
    for (let index = 0; index < 10_000; index++) tokens.set(`${index}`, goodOf(`a${index}`));
    tokens.set('0', goodOf('a0'));
    tokens.set('new', goodOf('b'));
    expect(['0', '1', '2', 'new'].map((digest) => tokens.get(digest) !== undefined)).toEqual([true, false, true, true]);
  });

  test('forgets that of the one of two with equally many whose last token came longest ago', () => {
    const tokens = new ReviewedTokens();
    for (const digest of ['x1', 'y1', 'y2', 'x2']) tokens.set(digest, goodOf(digest.charAt(0)));
    for (let index = 0; index < 9_997; index++) tokens.set(`${index}`, goodOf(`a${index}`));
    expect(['x1', 'y1', 'y2', 'x2'].filter((digest) => tokens.get(digest))).toEqual(['x1', 'y2', 'x2']);
  });

  test('forgets the oldest of a service account also after another one of its tokens was refused', () => {
    const tokens = new ReviewedTokens();
    for (const digest of ['one', 'two']) tokens.set(digest, good);
    tokens.set('one', refused);
    for (let index = 0; index < 10_000; index++) tokens.set(`${index}`, good);
    expect(['one', 'two', '0'].map((digest) => tokens.get(digest))).toEqual([refused, undefined, good]);
  });

  test('A-51 keeps those of a service account, however many tokens another has had made', () => {
    const tokens = new ReviewedTokens();
    for (const digest of ['v1', 'v2', 'v3']) tokens.set(digest, goodOf('victim'));
    for (let index = 0; index < 30_000; index++) tokens.set(`${index}`, goodOf('thief'));
    const kept = Array.from({ length: 30_000 }, (_, index) => tokens.get(`${index}`)).filter(Boolean);
    expect(['v1', 'v2', 'v3'].map((digest) => tokens.get(digest))).toEqual(Array(3).fill(goodOf('victim')));
    expect(kept.length).toBe(9_997);
  });

  test('keeps nothing of service accounts whose tokens are good no longer', () => {
    const tokens = new ReviewedTokens();
    const pass = (accounts: number): void => {
      for (let index = 0; index < accounts; index++) {
        tokens.set(`${index}`, goodOf(`account-${index}`));
        tokens.set(`${index}`, refused);
      }
    };
    pass(2_000);
    const before = usedHeap();
    pass(25_000);
    // An empty set for each is 5 MB.
    expect(usedHeap() - before).toBeLessThan(2_000_000);
  });

  test('forgets the refused one asked for longest ago, beyond 1,000', () => {
    const tokens = new ReviewedTokens();
    for (let index = 0; index < 1_000; index++) tokens.set(`${index}`, refused);
    for (const digest of ['1', 'new', 'newer']) tokens.set(digest, refused);
    expect(['0', '1', '2', '3'].map((digest) => tokens.get(digest))).toEqual([undefined, refused, undefined, refused]);
  });

  test('keeps 1,000 refused ones, which push no good one out', () => {
    const tokens = new ReviewedTokens();
    tokens.set('good', good);
    for (let index = 0; index < 20_000; index++) tokens.set(`${index}`, refused);
    const kept = Array.from({ length: 20_000 }, (_, index) => tokens.get(`${index}`)).filter(Boolean);
    expect([tokens.get('good'), kept.length]).toEqual([good, 1_000]);
  });
});
