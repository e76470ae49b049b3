import fc from 'fast-check';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { dummyHash } from '../../../src/users/password-hash.ts';
import { createPasswordSignIn } from '../../../src/users/password-sign-in.ts';
import type { SignInResult } from '../../../src/users/sign-in.ts';
import type { User } from '../../../src/users/user.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { Largest } from '../../support/largest.ts';
import { quickBcrypt } from '../../support/passwords.ts';
import { checkSizesAsync, type Sizes } from '../../support/property.ts';

const MINUTE = 60_000;
const LIMIT = 5;
const WINDOW_MS = 30 * MINUTE;
const COST = 10;

const options = {
  // 12 for an address, so that sequences of this length meet it as often as the bucket of a text.
  throttle: { user: { limit: LIMIT, windowMs: WINDOW_MS }, address: { limit: 12, windowMs: MINUTE } },
  gate: { concurrency: 2, queue: 16, maxWaitMs: 2000 },
  cost: COST,
  maxCost: 12,
};

const hash = `$2b$${COST}$${'a'.repeat(53)}`;
const bob: User = { name: 'bob', uid: '1', email: 'bob@example.com', passwordHash: hash, groups: [], state: 'Active' };

interface Step {
  readonly spelling: 'name' | 'email';
  readonly source: 'office' | 'street';
  readonly isRight: boolean;
  readonly thenMs: number;
}

/** Mostly quick, now and then around the ends of both windows. */
const PAUSES = [0, 0, 0, 0, 1000, MINUTE - 1, MINUTE, 10 * MINUTE, WINDOW_MS - 1, WINDOW_MS];
const steps = ({ upTo }: Sizes, rightToo: boolean): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record({
      spelling: fc.constantFrom('name' as const, 'email' as const),
      source: fc.constantFrom('office' as const, 'street' as const),
      isRight: rightToo ? fc.boolean() : fc.constant(false),
      thenMs: fc.constantFrom(...PAUSES),
    }),
    upTo(60, 10),
  );

/** What one person's door answers and what it costs, attempt by attempt. */
class Door {
  readonly clock = new FakeClock();
  /** Of each compare in turn: whether the stored hash was in it, and when. */
  readonly compares: { readonly isReal: boolean; readonly at: number }[] = [];
  readonly #name: string;
  readonly #signIn: ReturnType<typeof createPasswordSignIn>;

  constructor(name: string, someone: User = bob) {
    this.#name = name;
    const users = {
      byName: (text: string) => (text === bob.name ? someone : undefined),
      byEmail: (text: string) => (text === bob.email ? someone : undefined),
      all: () => [someone],
    };
    const compare = async (password: string, stored: string): Promise<boolean> => {
      this.compares.push({ isReal: stored === hash, at: this.clock.monotonic() });
      return (stored === hash || stored === dummyHash(COST)) && password === 'right';
    };
    const bcrypt = { ...quickBcrypt, compare };
    const parts = { users, clock: this.clock, registry: new Registry(), events: { report: () => {} }, bcrypt };
    this.#signIn = createPasswordSignIn(options, parts);
  }

  attempt({ spelling, source }: Step, password: string): Promise<SignInResult> {
    const username = spelling === 'name' ? this.#name : `${this.#name}@example.com`;
    return this.#signIn.signIn({ username, password, source, signal: new AbortController().signal });
  }

  /** Compares with the stored hash that count now. */
  recent(): number {
    const since = this.clock.monotonic() - WINDOW_MS;
    return this.compares.filter(({ isReal, at }) => isReal && at > since).length;
  }
}

const RUNS = { cases: 300, short: 50 };

describe('sign-ins by random spellings', () => {
  test('A-42 N-15 are answered alike and cost the same for a user and for a name that nobody has', async () => {
    const largest = new Largest('sign-ins answered alike', 'attempts');
    await checkSizesAsync(
      (sizes) =>
        fc.asyncProperty(steps(sizes, true), async (sequence) => {
          largest.see(sequence.length);
          const [known, unknown] = [new Door('bob'), new Door('nobody')];
          for (const step of sequence) {
            // The right password tells nothing where the tries of the user are used up; before, it is the owner's.
            const password = step.isRight && known.recent() >= LIMIT ? 'right' : 'wrong';
            const answers = [await known.attempt(step, password), await unknown.attempt(step, password)];
            expect(answers[0]).toEqual(answers[1]);
            expect(known.compares.length).toBe(unknown.compares.length);
            for (const door of [known, unknown]) await door.clock.advance(step.thenMs);
          }
        }),
      RUNS,
    );
    largest.expectAtLeast(60);
  });

  test('A-42 N-15 are answered alike and cost the same for a user whose bucket filled on another replica', async () => {
    const largest = new Largest('sign-ins of a limited user', 'attempts');
    await checkSizesAsync(
      (sizes) =>
        fc.asyncProperty(steps(sizes, true), async (sequence) => {
          largest.see(sequence.length);
          const limited: User = { ...bob, isObject: true, state: 'AuthLimitExceeded' };
          const [known, unknown] = [new Door('bob', limited), new Door('nobody')];
          for (const step of sequence) {
            const password = step.isRight ? 'right' : 'wrong';
            expect(await known.attempt(step, password)).toEqual(await unknown.attempt(step, password));
            expect(known.compares.length).toBe(unknown.compares.length);
            for (const door of [known, unknown]) await door.clock.advance(step.thenMs);
          }
          expect(known.recent()).toBe(0);
        }),
      RUNS,
    );
    largest.expectAtLeast(60);
  });

  test('A-42 N-15 never compare more than five wrong passwords of a user in 30 min from places where it never signed in', async () => {
    const largest = new Largest('sign-ins and their compares', 'attempts');
    await checkSizesAsync(
      (sizes) =>
        fc.asyncProperty(steps(sizes, true), async (sequence) => {
          largest.see(sequence.length);
          const door = new Door('bob');
          const good = new Set<string>();
          const wrong: number[] = [];
          for (const step of sequence) {
            const before = door.compares.length;
            const result = await door.attempt(step, step.isRight ? 'right' : 'wrong');
            const now = door.clock.monotonic();
            const wasReal = door.compares.slice(before).some(({ isReal }) => isReal);
            if (result.kind === 'ok') {
              if (!good.has(step.source)) wrong.length = 0;
              good.add(step.source);
            } else if (wasReal && !good.has(step.source)) wrong.push(now);
            expect(wrong.filter((at) => at > now - WINDOW_MS).length).toBeLessThanOrEqual(LIMIT);
            await door.clock.advance(step.thenMs);
          }
        }),
      RUNS,
    );
    largest.expectAtLeast(60);
  });

  test('A-42 answer for a spelling that never signed in here as for a text that nobody has, at a known good address too', async () => {
    const largest = new Largest('sign-ins by another spelling', 'attempts');
    await checkSizesAsync(
      (sizes) =>
        fc.asyncProperty(steps(sizes, false), async (sequence) => {
          largest.see(sequence.length);
          const [known, unknown] = [new Door('bob'), new Door('nobody')];
          await known.attempt({ spelling: 'name', source: 'office', isRight: true, thenMs: 0 }, 'right');
          await unknown.attempt({ spelling: 'name', source: 'street', isRight: true, thenMs: 0 }, 'right');
          for (const step of sequence.map((one) => ({ ...one, spelling: 'email', source: 'office' }) as const)) {
            const pair = [await known.attempt(step, 'wrong'), await unknown.attempt(step, 'wrong')];
            expect(pair[0]).toEqual(pair[1]);
            expect(known.compares.length).toBe(unknown.compares.length);
            for (const door of [known, unknown]) await door.clock.advance(step.thenMs);
          }
        }),
      RUNS,
    );
    largest.expectAtLeast(60);
  });
});
