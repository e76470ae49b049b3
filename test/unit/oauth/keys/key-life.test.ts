import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  activated,
  type KeyRecord,
  nextKey,
  published,
  revoked,
  rotated,
} from '../../../../src/oauth/keys/key-plan.ts';
import type { KeyState } from '../../../../src/oauth/keys/signing-key-data.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizesAsync, type Sizes } from '../../../support/property.ts';

const MINUTE = 60_000;
const PERIOD = 6 * 60 * MINUTE;
const LIFE = 14_410_000;
/** A replica may learn so late that a key has retired. */
const LAG = MINUTE;

interface Step {
  readonly passMs: number;
  readonly act: 'look' | 'rotate' | 'rotate-now' | 'revoke';
  /** Which of the listed keys is revoked. */
  readonly which: number;
}

const stepsOf = ({ upTo }: Sizes) =>
  fc.array(
    fc.record<Step>({
      passMs: fc.oneof(
        fc.integer({ min: 0, max: 2 * MINUTE }),
        fc.integer({ min: 10 * MINUTE, max: 20 * MINUTE }),
        // The last moment, and the first one after it.
        fc.constantFrom(LIFE + LAG - 1, LIFE + LAG, 15 * MINUTE - 1, 15 * MINUTE),
        fc.integer({ min: 0, max: 8 * 60 * MINUTE }),
      ),
      act: fc.constantFrom('look', 'look', 'look', 'look', 'rotate', 'rotate-now', 'revoke'),
      which: fc.nat(9),
    }),
    upTo(60),
  );

/** The keys of one Secret over time, and what must be true of them after each step. */
class Life {
  #nowMs = 0;
  #made = 0;
  readonly #publishedAt = new Map<string, number>();
  readonly #isHurried = new Set<string>();
  readonly #revoked = new Set<string>();
  /** When the last token of each key expires. */
  readonly #tokensUntil = new Map<string, number>();
  keys: readonly KeyRecord[] = [{ kid: 'first', state: 'active', sinceMs: 0, privateKey: 1 }];

  constructor() {
    this.#publishedAt.set('first', Number.NEGATIVE_INFINITY);
  }

  async take({ passMs, act, which }: Step): Promise<void> {
    this.#nowMs += passMs;
    const active = this.#active();
    this.#sign(active);
    const kid = this.keys[which % this.keys.length]?.kid ?? '';
    if (act === 'look') this.#store(await rotated(this.keys, { periodMs: PERIOD, tokenLifeMs: LIFE }, this.#means()));
    if (act.startsWith('rotate')) this.#store(await published(this.keys, this.#means()));
    if (act === 'rotate-now') this.#activateNow();
    if (act === 'revoke') await this.#revoke(kid);
    this.#sign(active, LAG);
    this.#sign(this.#active());
    this.#check();
  }

  #means = () => ({
    nowMs: this.#nowMs,
    newKey: async (state: KeyState, sinceMs: number): Promise<KeyRecord> => {
      const kid = `key-${++this.#made}`;
      this.#publishedAt.set(kid, this.#nowMs);
      return { kid, state, sinceMs, privateKey: 1 };
    },
  });

  #store(keys: readonly KeyRecord[] | undefined): void {
    this.keys = keys ?? this.keys;
  }

  #activateNow(): void {
    const next = nextKey(this.keys);
    this.#isHurried.add(next?.kid ?? '');
    this.#store(activated(this.keys, next?.kid ?? '', this.#nowMs));
  }

  async #revoke(kid: string): Promise<void> {
    const before = this.#active();
    this.#store(await revoked(this.keys, kid, this.#means()));
    this.#revoked.add(kid);
    if (this.#active() !== before) this.#isHurried.add(this.#active());
  }

  #active = (): string => this.keys.find(({ state }) => state === 'active')?.kid ?? '';

  #sign = (kid: string, lagMs = 0): void => void this.#tokensUntil.set(kid, this.#nowMs + lagMs + LIFE);

  #check(): void {
    const active = this.keys.filter(({ state }) => state === 'active');
    expect(active).toHaveLength(1);
    expect(active[0]?.privateKey).toBe(1);
    const kid = this.#active();
    if (!this.#isHurried.has(kid))
      expect(this.#nowMs - (this.#publishedAt.get(kid) ?? 0)).toBeGreaterThanOrEqual(15 * MINUTE);
    const verifying = this.keys.filter(({ state }) => state !== 'revoked').map((key) => key.kid);
    for (const [signer, until] of this.#tokensUntil)
      if (until > this.#nowMs && !this.#revoked.has(signer)) expect(verifying).toContain(signer);
    for (const gone of this.#revoked) expect(verifying).not.toContain(gone);
  }
}

test('ID-09 signing keys: one is active, it was published before, and what it signed is verified as long as it lives', async () => {
  const largest = new Largest('the life of signing keys', 'steps');
  await checkSizesAsync(
    (sizes) =>
      fc.asyncProperty(stepsOf(sizes), async (taken) => {
        largest.see(taken.length);
        const life = new Life();
        for (const step of taken) await life.take(step);
      }),
    { cases: 300, short: 50 },
  );
  largest.expectAtLeast(60);
});
