import { describe, expect, test } from 'vitest';
import { createMemorySessions } from '../../../../src/oauth/sessions/memory-sessions.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { sessionStoreFacts } from '../../../support/session-store-suite.ts';

describe('sessions in memory', () => {
  sessionStoreFacts(async () => {
    const clock = new FakeClock();
    return {
      replicas: [createMemorySessions({ clock, random: systemRandom })],
      now: () => Math.floor(clock.now() / 1000),
      settle: async () => {},
    };
  });

  test('T-18 know the ends of the sessions that began here, and of no others', () => {
    const [here, elsewhere] = [open(), open()];
    const id = here.newId();
    expect([here.knowsEndsOf(id), elsewhere.knowsEndsOf(id)]).toEqual([true, false]);
    expect(here.newId()).not.toBe(id);
    expect(id).toMatch(/^[\w-]{8}\.[\w-]{14}$/);
  });
});

const open = () => createMemorySessions({ clock: new FakeClock(), random: systemRandom });
