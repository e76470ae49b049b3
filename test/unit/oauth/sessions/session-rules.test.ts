import { describe, expect, test } from 'vitest';
import { createMemorySessions } from '../../../../src/oauth/sessions/memory-sessions.ts';
import {
  isDead,
  isEmpty,
  trimmed,
  withCutOff,
  withRotation,
  withSessionEnded,
} from '../../../../src/oauth/sessions/session-rules.ts';
import { NOTHING_REMEMBERED, type UserSessions } from '../../../../src/oauth/sessions/sessions.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

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
    expect([trimmed(sessions, NOW + 49).cutOff, trimmed(sessions, NOW + 50).cutOff]).toEqual([NOW - 1, 0]);
    expect(trimmed(sessions, NOW + 99).dead.has('b')).toBe(true);
    expect(trimmed(sessions, NOW + 100)).toEqual({ ...NOTHING_REMEMBERED, live: sessions.live });
    expect(trimmed(sessions, NOW + 14_410)).toEqual(NOTHING_REMEMBERED);
  });

  test('is empty when it remembers no session, no end and no cut-off', () => {
    const live = rotated(NOTHING_REMEMBERED, 'a', NOW);
    const dead = withSessionEnded(live, 'a', { endedAt: NOW, keepUntil: NOW + 1 });
    const cutOff = withCutOff(NOTHING_REMEMBERED, { at: NOW, keepUntil: NOW + 1 });
    expect(dead.live.size).toBe(0);
    expect([live, dead, cutOff, NOTHING_REMEMBERED].map(isEmpty)).toEqual([false, false, false, true]);
  });

  test('A-47 remembers the end of an idle session for as long as its last token lives, also one issued ahead', () => {
    let sessions = rotated(rotated(NOTHING_REMEMBERED, 'ahead', NOW + 1), 'behind', NOW - 1);
    for (let index = 0; index < 256; index++) sessions = rotated(sessions, `s${index}`, NOW + 2);
    expect([...trimmed(sessions, NOW).dead]).toEqual([
      ['ahead', { endedAt: NOW + 1, keepUntil: NOW + 1 + 14_410 }],
      ['behind', { endedAt: NOW, keepUntil: NOW - 1 + 14_410 }],
    ]);
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
    expect([kept.dead.size, kept.cutOff, kept.cutOffKeepUntil]).toEqual([512, NOW + 512, NOW + 512 + 14_410]);
    for (let index = 0; index < 1025; index++) expect(isDead(kept, { sid: `s${index}`, iat: NOW + index })).toBe(true);
    expect(isDead(kept, { sid: 'old', iat: NOW - 1 })).toBe(true);
    expect([isDead(kept, { sid: 'new', iat: NOW + 5000 }), kept.live.has('new')]).toEqual([false, true]);
  });

  test('A-47 covers those that ended first, in whatever order they are remembered', () => {
    let sessions = NOTHING_REMEMBERED;
    for (let index = 1024; index >= 0; index--)
      sessions = withSessionEnded(sessions, `s${index}`, { endedAt: NOW + index, keepUntil: NOW + 14_410 - index });
    const kept = trimmed(sessions, NOW + 2000);
    expect([kept.dead.size, kept.dead.has('s513'), kept.dead.has('s512')]).toEqual([512, true, false]);
    expect([kept.cutOff, kept.cutOffKeepUntil]).toEqual([NOW + 512, NOW + 14_410]);
  });

  test('A-47 remembers 1,024 ended sessions one by one', () => {
    let sessions = NOTHING_REMEMBERED;
    for (let index = 0; index < 1024; index++)
      sessions = withSessionEnded(sessions, `s${index}`, { endedAt: NOW, keepUntil: NOW + 14_410 });
    expect(trimmed(sessions, NOW)).toEqual(sessions);
  });

  test('keeps the cause of a cut-off through one that has none, and not through one that has another', () => {
    const first = withCutOff(NOTHING_REMEMBERED, { at: NOW, keepUntil: NOW + 9, cause: 'disabled' });
    const second = withCutOff(first, { at: NOW + 1, keepUntil: NOW + 10 });
    const third = withCutOff(second, { at: NOW + 2, keepUntil: NOW + 11, cause: 'enabled' });
    expect([first, second, third].map(({ cutOffCause }) => cutOffCause)).toEqual(['disabled', 'disabled', 'enabled']);
    expect(withCutOff(NOTHING_REMEMBERED, { at: NOW, keepUntil: NOW + 9 })).not.toHaveProperty('cutOffCause');
  });

  test('ends by a cut-off what has issued a token up to its second, and leaves what has issued one since', () => {
    const sessions = rotated(rotated(NOTHING_REMEMBERED, 'before', NOW), 'after', NOW + 1);
    expect([...withCutOff(sessions, { at: NOW, keepUntil: NOW + 9 }).live.keys()]).toEqual(['after']);
    const spared = withCutOff(sessions, { at: NOW + 1, keepUntil: NOW + 9, spared: 'before' });
    expect([...spared.live.keys()]).toEqual(['before']);
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
    const store = createMemorySessions({ clock, random: systemRandom });
    await store.update('alice', (current) => ({ next: rotated(current, 'a', NOW), outcome: undefined }));
    await clock.advance(14_410_000);
    await store.update('bob', () => ({ outcome: undefined }));
    expect(store.read('alice')).toBe(NOTHING_REMEMBERED);
  });
});
