import { describe, expect, test } from 'vitest';
import { FlowConcurrencyLimits } from '../../../../src/runtime/limits/flow-concurrency-limits.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function create() {
  const clock = new FakeClock();
  const limits = new FlowConcurrencyLimits(clock, { first: 8, most: 16 });
  /** Calls that the flow may have in flight now. */
  const room = (flow = 'a'): number => {
    let calls = 0;
    while (calls < 99 && limits.allows(flow, calls)) calls++;
    return calls;
  };
  /** One call that was begun just now. */
  const fail = (retryAfterMs = 0, flow = 'a'): number => limits.failed(flow, limits.cutsOf(flow), retryAfterMs);
  return { clock, limits, room, fail };
}

describe('the limit of a flow', () => {
  test('grows by one with each answer, up to the most', () => {
    const { limits, room } = create();
    const rooms = [];
    for (let call = 0; call < 10; call++, limits.answered('a')) rooms.push(room());
    expect(rooms).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 16, 16]);
  });

  test('is halved by a failure, to one at least, and grows by one a round from then on', async () => {
    const { clock, limits, room, fail } = create();
    const rooms = [];
    for (let call = 0; call < 4; call++, fail()) rooms.push(room());
    expect(rooms).toEqual([8, 4, 2, 1]);
    await clock.advance(1_000);
    const grown = [];
    for (let call = 0; call < 7; call++, limits.answered('a')) grown.push(room());
    expect(grown).toEqual([1, 2, 2, 2, 3, 3, 3]);
  });

  test('is halved by a slow call, to a quarter of the most at least, and not closed', () => {
    const { limits, room, fail } = create();
    for (let call = 0; call < 5; call++) limits.slow('a', limits.cutsOf('a'));
    expect(room()).toBe(4);
    fail();
    limits.slow('a', limits.cutsOf('a'));
    expect(room()).toBe(2);
  });

  test('is cut once by calls that were in flight together', () => {
    const { limits, room } = create();
    const cuts = limits.cutsOf('a');
    for (let call = 0; call < 8; call++) limits.failed('a', cuts, 0);
    expect(room()).toBe(4);
    limits.slow('a', cuts);
    expect(room()).toBe(4);
  });

  test('is that of one flow alone', () => {
    const { room, fail } = create();
    fail(2_000);
    expect([room('a'), room('b')]).toEqual([0, 8]);
  });

  test.each([
    [500, 500],
    [3_000, 3_000],
    [240_000, 3_000],
  ])('is closed for as long as the cluster asks: %i ms is %i ms', async (asked, held) => {
    const { clock, room, fail } = create();
    expect(fail(asked)).toBe(held);
    await clock.advance(held - 1);
    expect(room()).toBe(0);
    await clock.advance(1);
    expect(room()).toBe(4);
  });

  test('of one call is closed for a second when that one fails', async () => {
    const { clock, room, fail } = create();
    for (let call = 0; call < 3; call++) expect(fail()).toBe(0);
    expect([room(), fail(), room()]).toEqual([1, 1_000, 0]);
    await clock.advance(1_000);
    expect(room()).toBe(1);
  });

  test('is forgotten when a thousand others had trouble since', () => {
    const { room, fail } = create();
    fail();
    for (let other = 0; other < 999; other++) fail(0, `${other}`);
    expect(room()).toBe(4);
    fail(0, 'one more');
    expect(room()).toBe(8);
  });
});
