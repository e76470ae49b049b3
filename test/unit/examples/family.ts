import assert from 'node:assert/strict';
import { type Family, NO_UPKEEP, type Shared } from '../../../src/service/family.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function createHeartbeat({ clock }: Pick<Shared, 'clock'>): Family & Required<Pick<Family, 'upkeep'>> {
  let lastAt = Number.NEGATIVE_INFINITY;
  const run = async (signal: AbortSignal): Promise<void> => {
    for (; !signal.aborted; await clock.sleep(10_000, signal)) lastAt = clock.monotonic();
  };
  const check = () => (clock.monotonic() - lastAt > 30_000 ? 'no heartbeat for 30 s' : undefined);
  const checks = [{ name: 'heartbeat', endpoints: ['readyz'], check }] as const;
  return { upkeep: { ...NO_UPKEEP, parts: [{ name: 'heartbeat', run }], checks } };
}

const { upkeep } = createHeartbeat({ clock: new FakeClock() }); // `makeFamilies` adds it
assert.equal(upkeep.checks[0]?.check(), 'no heartbeat for 30 s');
void upkeep.parts[0]?.run(AbortSignal.timeout(0)); // until the signal aborts
assert.equal(upkeep.checks[0]?.check(), undefined);
