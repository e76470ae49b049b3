import { expect, test } from 'vitest';
import { RecentCalls } from '../../src/recent-calls.ts';
import { FakeClock } from '../support/fake-clock.ts';

const create = (calls: string) => {
  const clock = new FakeClock();
  const recent = new RecentCalls(clock);
  for (const party of calls) recent.add(party);
  return { clock, recent };
};

test('the heaviest party is the one that asked most often, of those that may be named', () => {
  const { recent } = create('abbbcc');
  expect(recent.heaviest(2, () => true)).toBe('b');
  expect(recent.heaviest(2, (party) => party !== 'b')).toBe('c');
  expect(recent.heaviest(4, () => true)).toBeUndefined();
  expect(recent.total).toBe(6);
});

test('calls are forgotten after one to two seconds, and not before', async () => {
  const { clock, recent } = create('aa');
  await clock.advance(999);
  recent.add('a');
  await clock.advance(1);
  expect(recent.heaviest(3, () => true)).toBe('a');
  await clock.advance(999);
  expect(recent.total).toBe(3);
  await clock.advance(1);
  expect(recent.total).toBe(0);
});

test('calls of long ago are forgotten at once', async () => {
  const { clock, recent } = create('aa');
  await clock.advance(60_000);
  recent.add('b');
  expect(recent.heaviest(1, () => true)).toBe('b');
  expect(recent.total).toBe(1);
});
