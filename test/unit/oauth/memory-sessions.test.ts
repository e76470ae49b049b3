import { describe } from 'vitest';
import { createMemorySessions } from '../../../src/oauth/sessions/memory-sessions.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { sessionStoreFacts } from '../../support/session-store-suite.ts';

describe('sessions in memory', () => {
  sessionStoreFacts(async () => {
    const clock = new FakeClock();
    return {
      replicas: [createMemorySessions({ clock })],
      now: () => Math.floor(clock.now() / 1000),
      settle: async () => {},
    };
  });
});
