import { describe, expect, test } from 'vitest';
import { createMemorySessions } from '../../../src/oauth/sessions/memory-sessions.ts';
import {
  isDead,
  trimmed,
  withCutOff,
  withRotation,
  withSessionEnded,
} from '../../../src/oauth/sessions/session-rules.ts';
import { NOTHING_REMEMBERED, type UserSessions } from '../../../src/oauth/sessions/sessions.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const NOW = 1_000_000;

const rotated = (sessions: UserSessions, sid: string, atSeconds: number): UserSessions =>
  withRotation(sessions, sid, {
    generation: 1,
    rotatedAtMs: atSeconds * 1000,
    issuedAt: atSeconds,
    kid: 'k',
    accessJti: 'a',
    refreshJti: 'r',
    keepUntil: atSeconds + 14_410,
  });

describe('the record of a user', () => {
  test('forgets what no token depends on any more', () => {
    const ended = { endedAt: NOW, keepUntil: NOW + 100 };
    const sessions = withCutOff(withSessionEnded(rotated(NOTHING_REMEMBERED, 'a', NOW), 'b', ended), {
      at: NOW - 1,
      keepUntil: NOW + 50,
    });
    expect(trimmed(sessions, NOW + 99).dead.has('b')).toBe(true);
    expect(trimmed(sessions, NOW + 100)).toEqual({ ...NOTHING_REMEMBERED, live: sessions.live });
    expect(trimmed(sessions, NOW + 14_410)).toEqual(NOTHING_REMEMBERED);
  });

  test('A-47 ends the session idle longest when there are more than 256', () => {
    let sessions = NOTHING_REMEMBERED;
    for (let index = 0; index < 257; index++) sessions = rotated(sessions, `s${index}`, NOW + index);
    const kept = trimmed(sessions, NOW + 300);
    expect([kept.live.size, kept.live.has('s0'), isDead(kept, { sid: 's0', iat: NOW + 300 })]).toEqual([
      256,
      false,
      true,
    ]);
    expect(isDead(kept, { sid: 's1', iat: NOW })).toBe(false);
  });

  test('A-47 covers the older half of more than 1,024 ended sessions by a cut-off, and revives none', () => {
    let sessions = rotated(rotated(NOTHING_REMEMBERED, 'new', NOW + 5000), 'old', NOW - 1);
    for (let index = 0; index < 1025; index++)
      sessions = withSessionEnded(sessions, `s${index}`, { endedAt: NOW + index, keepUntil: NOW + index + 14_410 });
    const kept = trimmed(sessions, NOW + 6000);
    expect(kept.dead.size).toBe(512);
    for (let index = 0; index < 1025; index++) expect(isDead(kept, { sid: `s${index}`, iat: NOW + index })).toBe(true);
    expect(isDead(kept, { sid: 'old', iat: NOW - 1 })).toBe(true);
    expect([isDead(kept, { sid: 'new', iat: NOW + 5000 }), kept.live.has('new')]).toEqual([false, true]);
  });

  test('keeps the spared session through a cut-off, and no longer than the next one', () => {
    const first = withCutOff(rotated(NOTHING_REMEMBERED, 'a', NOW), { at: NOW, keepUntil: NOW + 9, spared: 'a' });
    expect([isDead(first, { sid: 'a', iat: NOW }), isDead(first, { sid: 'b', iat: NOW })]).toEqual([false, true]);
    const second = withCutOff(first, { at: NOW, keepUntil: NOW + 9 });
    expect(isDead(second, { sid: 'a', iat: NOW })).toBe(true);
  });

  test('never moves a cut-off back', () => {
    const first = withCutOff(NOTHING_REMEMBERED, { at: NOW, keepUntil: NOW + 9 });
    expect(withCutOff(first, { at: NOW - 5, keepUntil: NOW + 4 })).toMatchObject({
      cutOff: NOW,
      cutOffKeepUntil: NOW + 9,
    });
  });
});

describe('sessions in memory', () => {
  test('A-47 keep nothing of a user whose tokens have all expired', async () => {
    const clock = new FakeClock(NOW * 1000);
    const store = createMemorySessions({ clock });
    await store.update('alice', (current) => ({ next: rotated(current, 'a', NOW), outcome: undefined }));
    await clock.advance(14_410_000);
    await store.update('bob', () => ({ outcome: undefined }));
    expect(store.read('alice')).toBe(NOTHING_REMEMBERED);
  });
});
