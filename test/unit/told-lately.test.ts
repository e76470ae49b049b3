import { expect, test } from 'vitest';
import { ToldLately } from '../../src/runtime/paced-calls.ts';
import { FakeClock } from '../support/fake-clock.ts';

test('what was told is news again after a minute, each by itself, and the text that is empty too', async () => {
  const clock = new FakeClock();
  const told = new ToldLately(clock);
  expect(['', 'a', '', 'a'].map((what) => told.isNews(what))).toEqual([true, true, false, false]);
  await clock.advance(59_999);
  expect(told.isNews('')).toBe(false);
  await clock.advance(1);
  expect([told.isNews(''), told.isNews(''), told.isNews('a')]).toEqual([true, false, true]);
});

test('a thousand are remembered; what was told longest ago is forgotten first', () => {
  const told = new ToldLately(new FakeClock());
  for (let at = 0; at < 1_000; at++) told.isNews(`${at}`);
  expect(told.isNews('0')).toBe(false);
  told.isNews('one more');
  expect([told.isNews('1'), told.isNews('0')]).toEqual([false, true]);
});
