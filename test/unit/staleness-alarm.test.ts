import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { LastProof } from '../../src/data-age.ts';
import { createStalenessAlarm } from '../../src/service/staleness-alarm.ts';
import { FakeClock } from '../support/fake-clock.ts';

function start() {
  const clock = new FakeClock();
  const ages = { nodes: 0, keys: 0, sessions: 0 };
  const proofOf = (data: keyof typeof ages): LastProof => ({
    get at() {
      return clock.monotonic() - ages[data];
    },
  });
  const told: object[] = [];
  const stop = new AbortController();
  const events = { report: (event: string, fields: object) => told.push({ event, ...fields }) };
  const write = (line: string): void => {
    const { level, msg, data, seconds } = JSON.parse(line) as Record<string, unknown>;
    told.push({ level, msg, data, ...(seconds === undefined ? {} : { seconds }) });
  };
  const logger = pino({ formatters: { level: (level) => ({ level }) } }, { write });
  const watched = {
    lists: { nodes: proofOf('nodes') },
    revocation: { keys: proofOf('keys'), sessions: proofOf('sessions') },
  };
  const running = createStalenessAlarm(watched, { clock, logger, events }).run(stop.signal);
  return { clock, ages, told, stop, running };
}

const CURRENT = { level: 'info', msg: 'data is current again' };

describe('the alarm for old data', () => {
  test('C-38 is silent up to 120 s', async () => {
    const { clock, ages, told } = start();
    ages.keys = 120_000;
    ages.nodes = 120_000;
    await clock.advance(10_000);
    expect(told).toEqual([]);
  });

  test('logs once that nodes are old, and once that they are current again', async () => {
    const { clock, ages, told } = start();
    ages.nodes = 120_001;
    await clock.advance(60_000);
    expect(told).toEqual([
      { level: 'warn', msg: 'data is old: the cluster cannot be followed', data: 'nodes', seconds: 120 },
    ]);
    ages.nodes = 0;
    await clock.advance(60_000);
    expect(told.slice(1)).toEqual([{ ...CURRENT, data: 'nodes' }]);
  });

  test('C-38 tells once which data about revocation is old, and again when it is old again', async () => {
    const { clock, ages, told } = start();
    ages.sessions = 120_001;
    await clock.advance(60_000);
    expect(told).toEqual([{ event: 'revocation_data_stale', data: 'sessions', seconds: 120 }]);
    ages.sessions = 0;
    await clock.advance(10_000);
    ages.sessions = 200_000;
    ages.keys = 300_000;
    await clock.advance(10_000);
    expect(told.slice(1)).toEqual([
      { ...CURRENT, data: 'sessions' },
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
