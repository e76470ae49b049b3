import assert from 'node:assert/strict';
import type { Clock } from '../../../src/runtime/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';

async function poll(clock: Clock, ask: () => void, signal: AbortSignal): Promise<void> {
  for (; !signal.aborted; await clock.sleep(5_000, signal)) ask();
}

const clock = new FakeClock(); // test/support/fake-clock.ts; the process has `systemClock`
const ending = new AbortController();
let asked = 0;
const polling = poll(clock, () => asked++, ending.signal);
await clock.advance(10_000);
ending.abort();
await polling;
assert.equal(asked, 3);
