import { beforeAll, describe, expect, test } from 'vitest';
import { MINUTE_MS } from './clock.ts';
import { FAULTS, LASTING_FAULTS } from './faults.ts';
import { shippedRules } from './promtool.ts';
import { type Seen, startFault, watchAlerts } from './seen-alerts.ts';

/** The longest `for` is 10 minutes here, after a range of 5. */
const FOR_MS = 16 * MINUTE_MS;

describe('the rules of Prometheus beside services with a fault', () => {
  let seen: Seen;
  beforeAll(async () => {
    const watched = [];
    for (const fault of FAULTS) watched.push(await startFault(fault));
    seen = await watchAlerts(watched, FOR_MS);
  });

  test('every fault could be brought about', () => {
    expect(seen.failures).toEqual([]);
  });

  test('every text is filled in', () => {
    const texts = [...seen.alerts.values()].flatMap((alerts) => alerts.texts);
    expect(texts.length).toBeGreaterThan(2 * FAULTS.length);
    expect(texts.filter((text) => text === '' || /\{\{|<no value>|<error| {2}|NaN/.test(text))).toEqual([]);
  });

  test.each(FAULTS.flatMap(({ name, fires }) => fires.map((alert) => ({ name, alert }))))(
    'the fault $name fires $alert',
    ({ name, alert }) => {
      expect(seen.alerts.get(name)?.names).toContain(alert);
    },
  );

  test.each(FAULTS)('the fault $name fires nothing else but what follows from it', ({ name, fires, mayFire = [] }) => {
    const others = seen.alerts.get(name)?.names.filter((alert) => ![...fires, ...mayFire].includes(alert));
    expect(others).toEqual([]);
  });
});

test('there is a fault for every alert', () => {
  const caused = [...FAULTS, ...LASTING_FAULTS].flatMap(({ fires }) => fires);
  expect(
    shippedRules()
      .map(({ alert }) => alert)
      .filter((alert) => !caused.includes(alert)),
  ).toEqual([]);
});
