import { beforeAll, describe, expect, test } from 'vitest';
import { BUSY_FAULTS, LASTING_FAULTS, QUIET_FAULTS } from './faults.ts';
import { shippedRules } from './promtool.ts';
import { type Seen, startFault, watchAlerts } from './seen-alerts.ts';

/** Sixteen minutes: `for` and the range of a rate are 5 minutes each at most, and more of a threshold. */
const FOR_MS = 32_000;

describe.each([
  { kind: 'without a load', faults: QUIET_FAULTS },
  { kind: 'under a load', faults: BUSY_FAULTS.slice(0, 4) },
  { kind: 'under another load', faults: BUSY_FAULTS.slice(4) },
])('a real Prometheus beside services with a fault, $kind', ({ faults }) => {
  let seen: Seen;
  beforeAll(async () => {
    const watched = [];
    for (const fault of faults) watched.push(await startFault(fault));
    ({ seen } = await watchAlerts(watched, FOR_MS));
  });

  test('every fault could be brought about', () => {
    expect(seen.failures).toEqual([]);
  });

  test('every text is filled in', () => {
    expect(seen.texts.length).toBeGreaterThan(0);
    expect(seen.texts.filter((text) => text === '' || /\{\{|<no value>|<error| {2}|NaN/.test(text))).toEqual([]);
  });

  test.each(faults.flatMap(({ name, fires }) => fires.map((alert) => ({ name, alert }))))(
    'the fault $name fires $alert',
    ({ name, alert }) => {
      expect(seen.fired.get(name)).toContain(alert);
    },
  );

  test.each(faults)('the fault $name fires nothing else but what follows from it', ({ name, fires, mayFire = [] }) => {
    const others = seen.fired.get(name)?.filter((alert) => ![...fires, ...mayFire].includes(alert));
    expect(others).toEqual([]);
  });
});

test('there is a fault for every alert', () => {
  const caused = [...QUIET_FAULTS, ...BUSY_FAULTS, ...LASTING_FAULTS].flatMap(({ fires }) => fires);
  expect(
    shippedRules()
      .map(({ alert }) => alert)
      .filter((alert) => !caused.includes(alert)),
  ).toEqual([]);
});
