import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createTextDigest, systemRandom } from '../../src/runtime/random.ts';

const TEXTS = ['', 'a', 'a.b.c', 'x'.repeat(8_192)];

/** What somebody who knows the text alone could work out. */
const plainDigests = (text: string): string[] =>
  (['base64', 'base64url', 'hex'] as const).map((form) => createHash('sha256').update(text).digest(form));

describe('the digest of a text', () => {
  test.each(TEXTS.map((text) => [text.length, text] as const))(
    'of %i characters is no plain SHA-256 of it',
    (_, text) => {
      const digest = createTextDigest(systemRandom)(text);
      expect(plainDigests(text)).not.toContain(digest);
    },
  );

  test.each(TEXTS.map((text) => [text.length, text] as const))(
    'of %i characters is another in every process',
    (_, text) => {
      const [one, other] = [createTextDigest(systemRandom), createTextDigest(systemRandom)];
      expect(one(text)).not.toBe(other(text));
      expect(one(text)).toBe(one(text));
    },
  );

  test('depends on every byte of 32 random ones', () => {
    const secretOf = (changed: number) => (length: number) => {
      expect(length).toBe(32);
      return Buffer.from(new Uint8Array(length).map((_, at) => (at === changed ? 1 : 0)));
    };
    const digests = Array.from({ length: 33 }, (_, at) =>
      createTextDigest({ ...systemRandom, bytes: secretOf(at) })('a'),
    );
    expect(new Set(digests).size).toBe(33);
  });

  test('is another for another text, and short for a long one', () => {
    const digest = createTextDigest(systemRandom);
    expect(new Set(TEXTS.map(digest)).size).toBe(TEXTS.length);
    expect(TEXTS.map((text) => digest(text).length)).toEqual(TEXTS.map(() => 44));
  });
});
