import { describe, expect, test } from 'vitest';
import { createRevocationAlarm } from '../../src/revocation-alarm.ts';
import { FakeClock } from '../support/fake-clock.ts';

function start() {
  const clock = new FakeClock();
  const ages = { keys: 0, sessions: 0 };
  const told: unknown[] = [];
  const stop = new AbortController();
  const events = { report: (event: string, fields: object) => told.push({ event, ...fields }) };
  const sources = { keys: () => ages.keys, sessions: () => ages.sessions };
  const running = createRevocationAlarm(sources, { clock, events }).run(stop.signal);
  return { clock, ages, told, stop, running };
}

describe('the alarm for data about revocation', () => {
  test('C-38 is silent while a watch is as old as a healthy one can be, and a minute longer', async () => {
    const { clock, ages, told } = start();
    ages.keys = 135_000;
    await clock.advance(10_000);
    expect(told).toEqual([]);
  });

  test('C-38 tells once which data is old, and again when it is old again', async () => {
    const { clock, ages, told } = start();
    ages.sessions = 135_001;
    await clock.advance(60_000);
    expect(told).toEqual([{ event: 'revocation_data_stale', data: 'sessions', seconds: 135 }]);
    ages.sessions = 0;
    await clock.advance(10_000);
    ages.sessions = 200_000;
    ages.keys = 300_000;
    await clock.advance(10_000);
    expect(told.slice(1)).toEqual([
      { event: 'revocation_data_stale', data: 'keys', seconds: 300 },
      { event: 'revocation_data_stale', data: 'sessions', seconds: 200 },
    ]);
  });

  test('leaves what was never known to readiness', async () => {
    const { clock, ages, told } = start();
    ages.keys = Number.POSITIVE_INFINITY;
    await clock.advance(10_000);
    expect(told).toEqual([]);
  });

  test('ends with the signal', async () => {
    const { stop, running, clock } = start();
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });
});
