import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { StoredKey } from '../../../src/oauth/keys/signing-key-data.ts';
import { createClientFailureCounter, registerKeyMetrics } from '../../../src/oauth/metrics.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const PERIOD_MS = 3_600_000;

/** The metrics of these keys, which may be replaced. */
function start(periodMs = PERIOD_MS) {
  const clock = new FakeClock();
  const registry = new Registry();
  const held = { keys: [] as readonly StoredKey[] };
  registerKeyMetrics(registry, clock, { keys: () => held.keys, rotation: { periodMs, tokenLifeMs: 0 } });
  const key = (kid: string, state: StoredKey['state'], ageMs: number): StoredKey =>
    ({ kid, state, sinceMs: clock.now() - ageMs }) as StoredKey;
  const valuesOf = async (name: string) =>
    ((await registry.getSingleMetric(name)?.get())?.values ?? []).map(({ labels, value }) => ({ ...labels, value }));
  return { held, key, valuesOf };
}

describe('the metrics of signing keys', () => {
  test('show each key in its state, and none that is gone', async () => {
    const { held, key, valuesOf } = start();
    held.keys = [key('a', 'active', 0), key('b', 'next', 0)];
    expect(await valuesOf('gatehouse_signing_key_info')).toEqual([
      { kid: 'a', state: 'active', value: 1 },
      { kid: 'b', state: 'next', value: 1 },
    ]);
    held.keys = [key('b', 'active', 0)];
    expect(await valuesOf('gatehouse_signing_key_info')).toEqual([{ kid: 'b', state: 'active', value: 1 }]);
  });

  test('show ages in seconds, 0 for a key of a replica whose clock is ahead, and none of a key that is gone', async () => {
    const { held, key, valuesOf } = start();
    held.keys = [key('a', 'active', 1500), key('b', 'next', -2000)];
    expect(await valuesOf('gatehouse_signing_key_age_seconds')).toEqual([
      { kid: 'a', value: 1.5 },
      { kid: 'b', value: 0 },
    ]);
    held.keys = [];
    expect(await valuesOf('gatehouse_signing_key_age_seconds')).toEqual([]);
  });

  test('show when a rotation is due, negative once it is overdue', async () => {
    const { held, key, valuesOf } = start();
    held.keys = [key('a', 'active', PERIOD_MS - 4000)];
    expect(await valuesOf('gatehouse_signing_key_rotation_due_seconds')).toEqual([{ value: 4 }]);
    held.keys = [key('a', 'active', PERIOD_MS + 4000)];
    expect(await valuesOf('gatehouse_signing_key_rotation_due_seconds')).toEqual([{ value: -4 }]);
  });

  test('show no time of a rotation where only an operator rotates', async () => {
    const { held, key, valuesOf } = start(0);
    held.keys = [key('a', 'active', 0)];
    expect(await valuesOf('gatehouse_signing_key_rotation_due_seconds')).toEqual([]);
  });
});

test('R-22 refused clients are counted for every reason from the start, so that the first one is an increase', async () => {
  const { values } = await createClientFailureCounter(new Registry()).get();
  expect(values.map(({ labels, value }) => [labels.reason, value])).toEqual([
    ['no_credentials', 0],
    ['unfit_credentials', 0],
    ['unknown_client', 0],
    ['wrong_secret', 0],
    ['throttled', 0],
    ['wrong_bearer', 0],
    ['certificate_not_allowed', 0],
  ]);
});
