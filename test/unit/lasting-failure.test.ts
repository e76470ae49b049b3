import { describe, expect, test } from 'vitest';
import { LastingFailure } from '../../src/runtime/lasting-failure.ts';
import { RecentReports } from '../../src/runtime/recent-reports.ts';
import { FakeClock } from '../support/fake-clock.ts';

test('what was told is news again after a minute, each by itself, and the text that is empty too', async () => {
  const clock = new FakeClock();
  const told = new RecentReports(clock);
  expect(['', 'a', '', 'a'].map((what) => told.isNews(what))).toEqual([true, true, false, false]);
  await clock.advance(59_999);
  expect(told.isNews('')).toBe(false);
  await clock.advance(1);
  expect([told.isNews(''), told.isNews(''), told.isNews('a')]).toEqual([true, false, true]);
});

test('a thousand are remembered; what was told longest ago is forgotten first', () => {
  const told = new RecentReports(new FakeClock());
  for (let at = 0; at < 1_000; at++) told.isNews(`${at}`);
  expect(told.isNews('0')).toBe(false);
  told.isNews('one more');
  expect([told.isNews('1'), told.isNews('0')]).toEqual([false, true]);
});

describe('a lasting failure', () => {
  const start = () => {
    const clock = new FakeClock();
    const lines: unknown[] = [];
    const at = (level: string) => (members: object, message: string) => void lines.push([level, members, message]);
    const failure = new LastingFailure(clock, { info: at('info'), warn: at('warn'), debug: at('debug') });
    return { clock, lines, failure };
  };
  const away = { err: 'away' };

  test('is a warning when it begins and five minutes after the last one, with how long it lasts, and else at debug', async () => {
    const { clock, lines, failure } = start();
    for (const waitMs of [0, 1, 299_998, 1, 299_999, 1]) {
      await clock.advance(waitMs);
      failure.failed(away, 'failed');
    }
    expect(lines).toEqual([
      ['warn', away, 'failed'],
      ['debug', away, 'failed'],
      ['debug', away, 'failed'],
      ['warn', { ...away, seconds: 300 }, 'failed'],
      ['debug', away, 'failed'],
      ['warn', { ...away, seconds: 600 }, 'failed'],
    ]);
  });

  test('is told once when it is over, and is a warning when it begins again', () => {
    const { lines, failure } = start();
    failure.over({}, 'over');
    failure.failed(away, 'failed');
    failure.over({}, 'over');
    failure.over({}, 'over');
    failure.failed(away, 'failed');
    expect(lines).toEqual([
      ['warn', away, 'failed'],
      ['info', {}, 'over'],
      ['warn', away, 'failed'],
    ]);
  });

  test('is a warning when it changes, and goes on lasting from its beginning', async () => {
    const { clock, lines, failure } = start();
    failure.failed(away, 'failed');
    await clock.advance(200_000);
    failure.failed({}, 'failed', 'forbidden');
    await clock.advance(200_000);
    failure.failed({}, 'failed', 'forbidden');
    await clock.advance(100_000);
    failure.failed({}, 'failed', 'forbidden');
    expect(lines).toEqual([
      ['warn', away, 'failed'],
      ['warn', {}, 'failed'],
      ['debug', {}, 'failed'],
      ['warn', { seconds: 500 }, 'failed'],
    ]);
  });
});
