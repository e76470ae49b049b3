import { expect, test } from 'vitest';
import { withCutOff, withRotation, withSessionEnded } from '../../src/oauth/sessions/session-rules.ts';
import {
  NOTHING_REMEMBERED,
  type SessionChange,
  type SessionStore,
  type UserSessions,
} from '../../src/oauth/sessions/sessions.ts';

/** The store of each replica: one for a memory store, several for a shared one. */
export interface OpenedStores {
  readonly replicas: readonly SessionStore[];
  /** Unix seconds. */
  now(): number;
  /** Resolves when every replica sees all writes. */
  settle(): Promise<void>;
}

const rotation = (generation: number, now: number) => ({
  generation,
  rotatedAtMs: now * 1000,
  issuedAt: now,
  kid: 'kid',
  accessJti: `access-${generation}`,
  refreshJti: `refresh-${generation}`,
  keepUntil: now + 14_410,
});

/** Rotates `sid` from generation `from`. If another caller has already done so, that rotation is the outcome. */
function rotateFrom(from: number, sid: string, { now }: Pick<OpenedStores, 'now'>) {
  const mine = Math.random().toString(36);
  return (current: UserSessions): SessionChange<string> => {
    const known = current.live.get(sid);
    if ((known?.generation ?? 0) > from) return { outcome: known?.refreshJti ?? '' };
    const next = withRotation(current, sid, { ...rotation(from + 1, now()), refreshJti: mine });
    return { next, outcome: mine };
  };
}

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

/** Tests the promises of every session store, wherever it keeps its records. */
export function sessionStoreFacts(open: () => Promise<OpenedStores>): void {
  test('knows nothing of a user who never refreshed or ended a session', async () => {
    const { replicas } = await open();
    for (const store of replicas) expect(store.read('alice')).toBe(NOTHING_REMEMBERED);
  });

  test('shows a change where it was made as soon as it stands, and soon everywhere', async () => {
    const stores = await open();
    const [first] = stores.replicas as [SessionStore];
    await first.update('alice', rotateFrom(0, 'sid', stores));
    expect(first.read('alice').live.get('sid')?.generation).toBe(1);
    await stores.settle();
    for (const store of stores.replicas) expect(store.read('alice')).toEqual(first.read('alice'));
    expect(first.read('bob')).toBe(NOTHING_REMEMBERED);
  });

  test('tells whose record has changed, at every replica, when it can be read there', async () => {
    const stores = await open();
    const told = stores.replicas.map((store) => {
      const seen: (number | undefined)[] = [];
      store.onChange((user) => seen.push(user === 'alice' ? store.read(user).live.get('sid')?.generation : undefined));
      return seen;
    });
    await at(stores.replicas, 0).update('alice', rotateFrom(0, 'sid', stores));
    await stores.settle();
    for (const seen of told) expect([seen.length > 0, ...new Set(seen)]).toEqual([true, 1]);
  });

  test('keeps all that a record holds', async () => {
    const stores = await open();
    const now = stores.now();
    const whole = (): UserSessions => {
      const rotated = withRotation(NOTHING_REMEMBERED, 'live', rotation(3, now));
      const ended = withSessionEnded(rotated, 'dead', { endedAt: now - 5, keepUntil: now + 500 });
      return withCutOff(ended, { at: now - 60, keepUntil: now + 900, spared: 'live', cause: 'cause' });
    };
    await at(stores.replicas, 0).update('alice', () => ({ next: whole(), outcome: undefined }));
    await stores.settle();
    for (const store of stores.replicas) expect(store.read('alice')).toEqual(whole());
  });

  test('writes nothing for a decision that changes nothing', async () => {
    const { replicas } = await open();
    expect(await at(replicas, 0).update('alice', () => ({ outcome: 'as it was' }))).toBe('as it was');
    expect(at(replicas, 0).read('alice')).toBe(NOTHING_REMEMBERED);
  });

  test('R-06 gives 50 parallel refreshes of one token one successor', async () => {
    const stores = await open();
    const made = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        at(stores.replicas, index).update('alice', rotateFrom(0, 'sid', stores)),
      ),
    );
    expect(new Set(made).size).toBe(1);
    await stores.settle();
    for (const store of stores.replicas) expect(store.read('alice').live.get('sid')?.refreshJti).toBe(made[0]);
  });

  test('loses no session of a user whose sessions are refreshed at once', async () => {
    const stores = await open();
    const sids = Array.from({ length: 9 }, (_, index) => `sid-${index}`);
    await Promise.all(sids.map((sid, index) => at(stores.replicas, index).update('alice', rotateFrom(0, sid, stores))));
    await stores.settle();
    for (const store of stores.replicas) expect([...store.read('alice').live.keys()].sort()).toEqual(sids);
  });

  test('two writers never both win: each change is decided on the one before', async () => {
    const stores = await open();
    const count = (current: UserSessions): SessionChange<number> => {
      const generation = (current.live.get('counter')?.generation ?? 0) + 1;
      return {
        next: withRotation(current, 'counter', rotation(generation, stores.now())),
        outcome: generation,
      };
    };
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) => at(stores.replicas, index).update('alice', count)),
    );
    expect(outcomes.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  });

  test('a decision that throws changes nothing and holds nobody up', async () => {
    const stores = await open();
    const broken = at(stores.replicas, 0).update('alice', () => {
      throw new Error('a bug');
    });
    await expect(broken).rejects.toThrow('a bug');
    await at(stores.replicas, 0).update('alice', rotateFrom(0, 'sid', stores));
    expect(at(stores.replicas, 0).read('alice').live.size).toBe(1);
  });

  test('A-47 keeps nothing of a change after which nothing is left to remember', async () => {
    const stores = await open();
    const store = at(stores.replicas, 0);
    await store.update('alice', rotateFrom(0, 'sid', stores));
    await store.update('alice', () => ({ next: NOTHING_REMEMBERED, outcome: undefined }));
    await stores.settle();
    for (const one of stores.replicas) expect(one.read('alice')).toBe(NOTHING_REMEMBERED);
    await store.update('alice', rotateFrom(0, 'sid', stores));
    expect(store.read('alice').live.size).toBe(1);
  });
}
