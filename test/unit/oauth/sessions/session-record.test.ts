import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeSessions, encodeSessions, recordName } from '../../../../src/oauth/sessions/session-record.ts';
import type { UserSessions } from '../../../../src/oauth/sessions/sessions.ts';
import { Largest } from '../../../support/largest.ts';
import { checkSizes, type Sizes } from '../../../support/property.ts';

const time = fc.nat();
const MOST = 60;
const sid = fc.string({ minLength: 1, maxLength: 22, size: 'max' }).filter((text) => text !== '__proto__');
const sessionsOf = ({ upTo }: Sizes): fc.Arbitrary<UserSessions> => {
  const { minLength: minKeys, maxLength: maxKeys, size } = upTo(MOST);
  const several = { minKeys, maxKeys, size, noNullPrototype: true };
  return fc
    .record({
      live: fc.dictionary(
        sid,
        fc.record({
          ...{ generation: fc.nat(), rotatedAtMs: time, issuedAt: time, keepUntil: time },
          ...{ kid: sid, accessJti: sid, refreshJti: sid },
          rotationsMs: fc.array(time, upTo(20)),
        }),
        several,
      ),
      dead: fc.dictionary(sid, fc.record({ endedAt: time, keepUntil: time }), several),
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
};

const document = (text: string) => ({ user: Buffer.from('alice'), 'record.json': Buffer.from(text) });

describe('a session record', () => {
  test('comes out as it went in', () => {
    const largest = new Largest('a session record', 'sessions');
    checkSizes((sizes) =>
      fc.property(sessionsOf(sizes), (record) => {
        largest.see(record.live.size + record.dead.size);
        expect(decodeSessions(encodeSessions('alice', record))).toEqual({ user: 'alice', sessions: record });
      }),
    );
    largest.expectAtLeast(2 * MOST);
  });

  test('is named after its user, whatever the length of the name', () => {
    expect(recordName('gatehouse-sessions-', 'alice')).toMatch(/^gatehouse-sessions-[0-9a-f]{40}$/);
    expect(recordName('p-', 'a'.repeat(253))).toHaveLength(42);
    expect(recordName('p-', 'alice')).not.toBe(recordName('p-', 'bob'));
  });

  test.each([
    ...['generation', 'rotatedAtMs', 'issuedAt', 'keepUntil', 'rotationsMs'].flatMap((name) =>
      ['canary', -1, null, undefined, [-1], ['canary']].map((value) => ['live', name, value] as const),
    ),
    ...['kid', 'accessJti', 'refreshJti'].flatMap((name) =>
      [1, null, undefined].map((value) => ['live', name, value] as const),
    ),
    ...['endedAt', 'keepUntil'].flatMap((name) =>
      ['canary', -1, null, undefined].map((value) => ['dead', name, value] as const),
    ),
  ])('with a session in %s whose %s is %j is refused', (kind, name, value) => {
    const session = {
      live: {
        ...{ generation: 1, rotatedAtMs: 0, issuedAt: 1, keepUntil: 2, rotationsMs: [0, 1] },
        ...{ kid: 'k', accessJti: 'a', refreshJti: 'r' },
      },
      dead: { endedAt: 0, keepUntil: 0 },
    }[kind];
    const text = (entry: object): string =>
      JSON.stringify({ format: 1, cutOff: 0, cutOffKeepUntil: 0, live: {}, dead: {}, [kind]: { s: entry } });
    expect(decodeSessions(document(text(session))).sessions[kind].get('s')).toEqual(session);
    expect(() => decodeSessions(document(text({ ...session, [name]: value })))).toThrow('one of its entries');
  });

  test('without the name of its user is refused', () => {
    const { 'record.json': record } = document('{"format":1,"cutOff":0,"cutOffKeepUntil":0,"live":{},"dead":{}}');
    for (const data of [{ 'record.json': record }, { 'record.json': record, user: Buffer.of() }])
      expect(() => decodeSessions(data)).toThrow('it is not a session record in a known format');
    expect(decodeSessions({ 'record.json': record, user: Buffer.from('alice') }).user).toBe('alice');
  });

  test.each([
    ['no document', ''],
    ['no JSON', '{"canary"'],
    ['a list', '[]'],
    ['an unknown format', '{"format":2,"cutOff":0,"cutOffKeepUntil":0,"live":{},"dead":{}}'],
    ['no cut-off', '{"format":1,"cutOffKeepUntil":0,"live":{},"dead":{}}'],
    ['a cut-off that is no number', '{"format":1,"cutOff":"canary","cutOffKeepUntil":0,"live":{},"dead":{}}'],
    ['a spared session that is no text', '{"format":1,"cutOff":0,"cutOffKeepUntil":0,"live":{},"dead":{},"spared":1}'],
    ['a cause that is no text', '{"format":1,"cutOff":0,"cutOffKeepUntil":0,"live":{},"dead":{},"cutOffCause":null}'],
    ['a cut-off beyond all numbers', '{"format":1,"cutOff":1e999,"cutOffKeepUntil":0,"live":{},"dead":{}}'],
    [
      'an end beyond all numbers',
      '{"format":1,"cutOff":0,"cutOffKeepUntil":0,"live":{},"dead":{"s":{"endedAt":1e999,"keepUntil":1}}}',
    ],
    ['sessions that are no object', '{"format":1,"cutOff":0,"cutOffKeepUntil":0,"live":[],"dead":{}}'],
    ['an incomplete session', '{"format":1,"cutOff":0,"cutOffKeepUntil":0,"live":{"s":{"generation":1}},"dead":{}}'],
    ['an ended session without a time', '{"format":1,"cutOff":0,"cutOffKeepUntil":0,"live":{},"dead":{"s":{}}}'],
  ])('with %s is refused in words that hold nothing of it', (_, text) => {
    expect(() => decodeSessions(document(text))).toThrow(/^it is no|^one of its entries/);
    expect(() => decodeSessions(document(text))).not.toThrow('canary');
  });
});
