import { describe, expect, test } from 'vitest';
import { CallQueue, type QueuedCall } from '../../../../src/http/limits/call-queue.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const aTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Calls to the cluster, and the order in which they began: `ann 0` is Ann's first. */
function start({ load }: { load: number }) {
  const clock = new FakeClock();
  const state = { load };
  const queue = new CallQueue({ clock, loopLoad: () => state.load });
  const began: string[] = [];
  const calls = new Map<string, QueuedCall>();
  const gone = new Set<string>();
  const came = new Map<string, number>();
  const call = async (count = 1, user = 'ann'): Promise<void> => {
    for (let index = 0; index < count; index++) {
      const name = `${user} ${came.get(user) ?? 0}`;
      came.set(user, (came.get(user) ?? 0) + 1);
      const queued = queue.take(user);
      calls.set(name, queued);
      void Promise.resolve(queued.begins).then(() => gone.has(name) || began.push(name));
    }
    await aMoment();
  };
  const leave = async (name: string): Promise<void> => {
    gone.add(name);
    calls.get(name)?.leave();
    await aMoment();
  };
  const others = (count: number): void => {
    for (let index = 0; index < count; index++) queue.other();
  };
  return { clock, state, queue, began, call, leave, others };
}

const aMoment = async (): Promise<void> => {
  for (let hop = 0; hop < 3; hop++) await Promise.resolve();
};

const annsFirst = (count: number): string[] => Array.from({ length: count }, (_, index) => `ann ${index}`);

describe('a call to the cluster begins at once', () => {
  test('while the event loop has time', async () => {
    const { began, call, others } = start({ load: 0.89 });
    others(20);
    await call(100);
    expect(began.length).toBe(100);
  });

  test('while nobody else asks, however busy the loop is', async () => {
    const { clock, began, call, others } = start({ load: 1 });
    await call(100);
    expect(began.length).toBe(100);
    others(1);
    await clock.advance(5);
    await call(100);
    expect(began.length).toBe(200);
  });

  test('G-22 when its user has no other under way, however many calls of others wait', async () => {
    const { began, queue, call, leave, others } = start({ load: 1 });
    others(1);
    await call(120, 'joe');
    await call(120, 'eve');
    await call();
    expect([began, queue.waiting]).toEqual([['joe 0', 'eve 0', 'ann 0'], 238]);
    await leave('ann 0');
    await call();
    expect(began).toEqual(['joe 0', 'eve 0', 'ann 0', 'ann 1']);
  });
});

describe('beside others, in a busy loop, a further call of a user', () => {
  test('begins after 48 of them', async () => {
    const { began, queue, call, others } = start({ load: 1 });
    others(1);
    await call();
    expect(began).toEqual(annsFirst(1)); // there was none before it to wait for
    others(1);
    await call(2);
    others(46);
    await aTurn();
    expect([began, queue.waiting]).toEqual([annsFirst(1), 2]);
    others(1);
    await aTurn();
    expect([began, queue.waiting]).toEqual([annsFirst(2), 1]);
    others(48);
    await aTurn();
    expect([began, queue.waiting]).toEqual([annsFirst(3), 0]);
  });

  test('waits for at most 10 ms from the turn before it, so that none waits for ever', async () => {
    const { clock, began, call, others } = start({ load: 1 });
    await call();
    others(1);
    await call(20);
    for (let ms = 1; ms <= 200; ms++) {
      await clock.advance(1);
      await aTurn();
      others(1);
      if (ms % 10 === 9) expect(began.length).toBe(Math.floor(ms / 10) + 1);
    }
    expect(began).toEqual(annsFirst(21));
  });

  test('waits no longer when they stop asking', async () => {
    const { clock, began, queue, call, others } = start({ load: 1 });
    await call();
    others(1);
    await call(5);
    await clock.advance(4);
    expect(queue.waiting).toBe(5);
    await clock.advance(1);
    for (let turn = 0; turn < 5; turn++) await aTurn();
    expect(began).toEqual(annsFirst(6));
  });

  test('waits no longer when the loop has time again, and then begins in its order', async () => {
    const { clock, state, began, queue, call, others } = start({ load: 1 });
    await call();
    others(1);
    await call(5);
    state.load = 0.5;
    await call();
    expect([began, queue.waiting]).toEqual([annsFirst(1), 6]);
    await clock.advance(5);
    for (let turn = 0; turn < 6; turn++) await aTurn();
    expect(began).toEqual(annsFirst(7));
  });

  test('waits no longer than the call before it', async () => {
    const { began, queue, call, leave, others } = start({ load: 1 });
    others(1);
    await call(3);
    expect([began, queue.waiting]).toEqual([annsFirst(1), 2]);
    await leave('ann 0');
    await leave('ann 0'); // a second time changes nothing
    expect([began, queue.waiting]).toEqual([annsFirst(2), 1]);
  });

  test('waits for its turn after another request of its user, but not for another request of others', async () => {
    const { clock, began, queue, call, leave, others } = start({ load: 1 });
    others(1);
    await call(2);
    queue.asked('ann');
    await leave('ann 0');
    expect([began, queue.waiting]).toEqual([annsFirst(1), 1]);
    queue.asked('joe');
    await call(1, 'joe');
    expect([began, queue.waiting]).toEqual([['ann 0'], 2]);
    await call(1, 'eve');
    expect(began).toEqual(['ann 0', 'eve 0']);
    await clock.advance(4);
    others(1);
    await clock.advance(1);
    await call(1, 'max');
    expect(began).toEqual(['ann 0', 'eve 0', 'max 0']);
    others(47);
    await aTurn();
    others(48);
    await aTurn();
    expect(began).toEqual(['ann 0', 'eve 0', 'max 0', 'ann 1', 'joe 0']);
  });

  test('G-22 takes turns with those of other users, whoever came first', async () => {
    const { began, call, others } = start({ load: 1 });
    others(1);
    await call(4, 'joe');
    await call(2, 'ann');
    await call(3, 'eve');
    for (let turn = 0; turn < 6; turn++) {
      others(48);
      await aTurn();
    }
    expect(began.slice(0, 3)).toEqual(['joe 0', 'ann 0', 'eve 0']);
    expect(began.slice(3)).toEqual(['joe 1', 'ann 1', 'eve 1', 'joe 2', 'eve 2', 'joe 3']);
  });

  test('G-22 costs no turn and no memory when its client has gone', async () => {
    const { began, queue, call, leave, others } = start({ load: 1 });
    others(1);
    await call(3);
    await leave('ann 1');
    expect([began, queue.waiting]).toEqual([annsFirst(1), 1]);
    others(48);
    await aTurn();
    expect([began, queue.waiting]).toEqual([['ann 0', 'ann 2'], 0]);
    await leave('ann 0');
    await leave('ann 2');
    await call(1);
    expect(began).toEqual(['ann 0', 'ann 2', 'ann 3']);
  });
});
