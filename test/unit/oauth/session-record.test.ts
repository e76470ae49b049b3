import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeSessions, encodeSessions, recordName } from '../../../src/oauth/sessions/session-record.ts';
import type { UserSessions } from '../../../src/oauth/sessions/sessions.ts';
import { Largest } from '../../support/largest.ts';

const time = fc.nat();
const SEVERAL = { maxKeys: 60, size: 'max' } as const;
const sid = fc.string({ minLength: 1, maxLength: 22, size: 'max' }).filter((text) => text !== '__proto__');
const sessions: fc.Arbitrary<UserSessions> = fc
  .record({
    live: fc.dictionary(
      sid,
      fc.record({
        ...{ generation: fc.nat(), rotatedAtMs: time, issuedAt: time, keepUntil: time },
        ...{ kid: sid, accessJti: sid, refreshJti: sid },
        rotationsMs: fc.array(time, { maxLength: 20, size: 'max' }),
      }),
      { ...SEVERAL, noNullPrototype: true },
    ),
    dead: fc.dictionary(sid, fc.record({ endedAt: time, keepUntil: time }), { ...SEVERAL, noNullPrototype: true }),
    cutOff: time,
    cutOffKeepUntil: time,
    more: fc.record({ spared: sid, cutOffCause: sid }, { requiredKeys: [] }),
  })
  .map(({ live, dead, more, ...rest }) => ({
    ...rest,
    ...more,
    live: new Map(Object.entries(live)),
    dead: new Map(Object.entries(dead)),
  }));

const document = (text: string) => ({ user: Buffer.from('alice'), 'record.json': Buffer.from(text) });

describe('a session record', () => {
  test('comes out as it went in', () => {
    const largest = new Largest('a session record', 'sessions');
    fc.assert(
      fc.property(sessions, (record) => {
        largest.see(record.live.size + record.dead.size);
        expect(decodeSessions(encodeSessions('alice', record))).toEqual({ user: 'alice', sessions: record });
      }),
    );
    largest.expectAtLeast(40);
  });

  test('is named after its user, whatever the length of the name', () => {
    expect(recordName('gatehouse-sessions-', 'alice')).toMatch(/^gatehouse-sessions-[0-9a-f]{40}$/);
    expect(recordName('p-', 'a'.repeat(253))).toHaveLength(42);
    expect(recordName('p-', 'alice')).not.toBe(recordName('p-', 'bob'));
  });

  test.each([
    ['no document', ''],
    ['no JSON', '{"canary"'],
    ['a list', '[]'],
    ['an unknown format', '{"format":2,"cutOff":0,"cutOffKeepUntil":0,"live":{},"dead":{}}'],
    ['no cut-off', '{"format":1,"cutOffKeepUntil":0,"live":{},"dead":{}}'],
    ['a cut-off that is no number', '{"format":1,"cutOff":"canary","cutOffKeepUntil":0,"live":{},"dead":{}}'],
    ['sessions that are no object', '{"format":1,"cutOff":0,"cutOffKeepUntil":0,"live":[],"dead":{}}'],
    ['an incomplete session', '{"format":1,"cutOff":0,"cutOffKeepUntil":0,"live":{"s":{"generation":1}},"dead":{}}'],
    ['an ended session without a time', '{"format":1,"cutOff":0,"cutOffKeepUntil":0,"live":{},"dead":{"s":{}}}'],
  ])('with %s is refused in words that hold nothing of it', (_, text) => {
    expect(() => decodeSessions(document(text))).toThrow(/^it is no|^one of its entries/);
    expect(() => decodeSessions(document(text))).not.toThrow('canary');
  });
});
