import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { createClusterSessions } from '../../../../src/oauth/sessions/cluster-sessions.ts';
import { withSessionEnded } from '../../../../src/oauth/sessions/session-rules.ts';
import { NOTHING_REMEMBERED } from '../../../../src/oauth/sessions/sessions.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import type { SecretRecords, StoredSecret } from '../../../../src/secret-store.ts';
import { ALWAYS_CURRENT } from '../../../support/always-current.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const HOUR = 3_600_000;

/** Records in memory, of which somebody may be told. */
class MemoryRecords implements SecretRecords {
  readonly stored = new Map<string, StoredSecret>();
  readonly #listeners: ((name: string) => void)[] = [];
  #version = 0;
  /** Updates that were asked for; each is a conflict while `isContended`. */
  writes = 0;
  refreshes = 0;
  isContended = false;
  /** Called before a record is removed. */
  beforeRemoval: (name: string) => void = () => {};

  get = (name: string): StoredSecret | undefined => this.stored.get(name);
  names = (): Iterable<string> => this.stored.keys();
  refresh = async (): Promise<void> => void this.refreshes++;
  hasSynced = (): boolean => true;
  readonly proof = ALWAYS_CURRENT;
  onChange = (listener: (name: string) => void): void => void this.#listeners.push(listener);

  create = async (name: string, data: StoredSecret['data']): Promise<'created'> => {
    this.#set(name, { data, version: String(++this.#version) });
    return 'created';
  };

  update = async (name: string, data: StoredSecret['data'], version: string): Promise<'updated' | 'conflict'> => {
    this.writes++;
    if (this.isContended || this.stored.get(name)?.version !== version) return 'conflict';
    this.#set(name, { data, version: String(++this.#version) });
    return 'updated';
  };

  remove = async (name: string, version: string): Promise<'removed' | 'conflict'> => {
    this.beforeRemoval(name);
    if (this.stored.get(name)?.version !== version) return 'conflict';
    this.#set(name, undefined);
    return 'removed';
  };

  #set(name: string, secret: StoredSecret | undefined): void {
    if (secret) this.stored.set(name, secret);
    else this.stored.delete(name);
    for (const listener of this.#listeners) listener(name);
  }
}

const stop = { signal: new AbortController() };

afterEach(() => {
  stop.signal.abort();
  stop.signal = new AbortController();
});

/** A replica that sweeps each hour and a half, and waits for half of the longest pause. */
function start(fraction = 0.5) {
  const records = new MemoryRecords();
  const clock = new FakeClock();
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const random = { ...systemRandom, fraction: () => fraction };
  const parts = { records, clock, random, logger, events: { report: () => {} } };
  const sessions = createClusterSessions({ namePrefix: 'sessions-', maxStalenessMs: 600_000 }, parts);
  /** Remembers an ended session of this user for so long. */
  const remember = (user: string, forMs: number): Promise<void> => {
    const keepUntil = (clock.now() + forMs) / 1000;
    const decide = (current: typeof NOTHING_REMEMBERED) => ({
      next: withSessionEnded(current, 'sid', { endedAt: keepUntil - 1, keepUntil }),
      outcome: undefined,
    });
    return sessions.update(user, decide);
  };
  return { records, clock, lines, sessions, remember };
}

describe('the sweep of session records', () => {
  test('removes, between one hour and two, the records of which no token depends on anything', async () => {
    const { records, clock, sessions, remember } = start();
    void sessions.run(stop.signal.signal);
    await remember('alice', HOUR);
    await remember('bob', 2 * HOUR);
    await clock.advance(1.5 * HOUR - 1);
    expect(records.stored.size).toBe(2);
    await clock.advance(1);
    expect(records.stored.size).toBe(1);
    expect([sessions.read('alice'), sessions.read('bob').dead.size]).toEqual([NOTHING_REMEMBERED, 1]);
    await clock.advance(1.5 * HOUR);
    expect(records.stored.size).toBe(0);
  });

  test('goes on when a record cannot be removed, and tries that one again the next time', async () => {
    const { records, clock, lines, sessions, remember } = start();
    void sessions.run(stop.signal.signal);
    await remember('alice', HOUR);
    await remember('bob', HOUR);
    const [first] = records.names();
    records.beforeRemoval = (name) => {
      if (name === first) throw new Error('the cluster is away');
    };
    await clock.advance(1.5 * HOUR);
    expect([...records.names()]).toEqual([first]);
    expect(lines).toMatchObject([{ secret: first, msg: 'an expired session record cannot be removed yet' }]);
    records.beforeRemoval = () => {};
    await clock.advance(1.5 * HOUR);
    expect(records.stored.size).toBe(0);
  });

  test('ends with the process, between two records as well as between two sweeps', async () => {
    const { records, clock, sessions, remember } = start();
    const swept = sessions.run(stop.signal.signal);
    await remember('alice', HOUR);
    await remember('bob', HOUR);
    records.beforeRemoval = () => stop.signal.abort();
    await clock.advance(1.5 * HOUR);
    await swept;
    expect([records.stored.size, clock.pendingTimers]).toEqual([1, 0]);
  });

  test('is not begun by a process that ends', async () => {
    const { records, clock, sessions, remember } = start();
    const swept = sessions.run(stop.signal.signal);
    await remember('alice', HOUR);
    clock.jumpWall(2 * HOUR);
    stop.signal.abort();
    await swept;
    expect(records.stored.size).toBe(1);
  });
});

describe('a change of a session record', () => {
  test('that loses is tried again after longer and longer, and given up at the twelfth loss', async () => {
    const { records, clock, remember } = start();
    await remember('alice', HOUR);
    records.isContended = true;
    const begun = clock.monotonic();
    const losing = remember('alice', 2 * HOUR);
    losing.catch(() => {});
    const losses: number[] = [];
    for (let ms = 0; clock.pendingTimers > 0 || losses.length === 0; ms++) {
      await clock.advance(ms === 0 ? 0 : 1);
      if (records.writes > losses.length) losses.push(clock.monotonic() - begun);
    }
    await expect(losing).rejects.toThrow('a session record was changed by others 12 times in a row');
    expect(losses).toEqual([0, 7, 22, 44, 74, 111, 156, 208, 268, 335, 410, 492]);
    expect(records.refreshes).toBe(11);
  });

  test('that loses is tried again at once where the random number is 0', async () => {
    const { records, clock, remember } = start(0);
    await remember('alice', HOUR);
    records.isContended = true;
    await expect(remember('alice', 2 * HOUR)).rejects.toThrow('12 times in a row');
    expect([records.writes, clock.pendingTimers]).toEqual([12, 0]);
  });

  test('that throws is decided once, though those beside it lose and are decided again', async () => {
    const { records, sessions, remember } = start(0);
    await remember('alice', HOUR);
    records.isContended = true;
    let decisions = 0;
    const broken = sessions.update('alice', () => {
      decisions++;
      throw new Error('a bug');
    });
    const settled = await Promise.allSettled([remember('alice', HOUR), broken, remember('alice', 2 * HOUR)]);
    const loss = 'a session record was changed by others 12 times in a row';
    expect(settled.map((one) => 'reason' in one && one.reason.message)).toEqual([loss, 'a bug', loss]);
    expect(decisions).toBe(1);
  });

  test('waits for the write under way, and shares the next one with up to 127 others', async () => {
    const { records, clock, remember } = start();
    await remember('alice', HOUR);
    await clock.advance(0);
    const change = (count: number) => Promise.all(Array.from({ length: count }, () => remember('alice', HOUR)));
    await change(1 + 128);
    expect(records.writes).toBe(2);
    await clock.advance(0);
    await change(1 + 128 + 1);
    expect(records.writes).toBe(2 + 3);
  });
});
