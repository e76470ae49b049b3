import { describe, expect, test } from 'vitest';
import { SlowSignatures } from '../../../src/authentication/cluster-keys.ts';

/** Verifications that end by hand, in the order in which they began. */
function create() {
  const begun: { readonly name: string; end(isSigned: boolean): void }[] = [];
  const signatures = new SlowSignatures();
  const check = (name: string, source = '192.0.2.1') =>
    signatures.check(source, () => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      begun.push({ name, end: resolve });
      return promise;
    });
  /** Ends each that begins, until none does. */
  const endAll = async (isSigned: boolean): Promise<void> => {
    for (let next = 0; next < begun.length; next++) {
      begun[next]!.end(isSigned);
      await new Promise(setImmediate);
    }
  };
  return { begun, check, endAll };
}

describe('signatures that are slow to verify', () => {
  test('are good or bad', async () => {
    const { begun, check } = create();
    const [good, bad] = [check('good'), check('bad')];
    await new Promise(setImmediate);
    begun[0]!.end(true);
    await new Promise(setImmediate);
    begun[1]!.end(false);
    expect(await Promise.all([good, bad])).toEqual(['good', 'bad']);
  });

  test('are verified one at a time, and 64 wait: more are turned away at once', async () => {
    const { begun, check, endAll } = create();
    const verdicts = Array.from({ length: 70 }, (_, index) => check(`${index}`));
    expect(await Promise.all(verdicts.slice(65))).toEqual(Array(5).fill('overloaded'));
    expect(begun.length).toBe(1);
    await endAll(false);
    expect(await Promise.all(verdicts.slice(0, 65))).toEqual(Array(65).fill('bad'));
  });

  test('A-51 of one address wait behind themselves, and keep no place from another', async () => {
    const { begun, check, endAll } = create();
    const flood = Array.from({ length: 65 }, (_, index) => check(`junk-${index}`));
    const other = check('other', '192.0.2.2');
    expect(await flood[64]).toBe('overloaded');
    await endAll(true);
    expect(await other).toBe('good');
    expect(begun.findIndex(({ name }) => name === 'other')).toBe(2); // after the one under way and one more
  });

  test('that cannot be verified at all leave the place to the next', async () => {
    const signatures = new SlowSignatures();
    const broken = signatures.check('192.0.2.1', () => Promise.reject(new Error('no such hash')));
    const next = signatures.check('192.0.2.1', () => Promise.resolve(true));
    await expect(broken).rejects.toThrow('no such hash');
    expect(await next).toBe('good');
  });
});
