import { describe, expect, test } from 'vitest';
import { byObject, readEvent } from '../../../web/api/events.ts';
import type { KubernetesObject } from '../../../web/api/objects.ts';

const at = (minute: number): string => `2026-03-09T10:${String(minute).padStart(2, '0')}:00Z`;
const SINCE = Date.parse(at(0));

const event = (name: string, reason: string, rest: object): KubernetesObject => ({
  metadata: { name: `${name}.1` },
  ...{ involvedObject: { kind: 'Pod', namespace: 'shop', name }, reason },
  ...rest,
});

describe('W-24 warnings by object', () => {
  test('are one line a reason and object, with the newest message and the sum of the counts, the newest first', () => {
    const found = byObject(
      [
        event('a', 'BackOff', { lastTimestamp: at(20), count: 3, message: 'old' }),
        event('a', 'Unhealthy', { lastTimestamp: at(10), count: 1, message: 'probe' }),
        event('b', 'BackOff', { lastTimestamp: at(30), message: 'other' }),
        event('a', 'BackOff', { lastTimestamp: at(40), count: 2, message: 'new' }),
        event('a', 'BackOff', { lastTimestamp: at(25), message: 'between' }),
      ],
      SINCE,
    );
    expect(found.map(({ name, reason, message, times, last }) => [name, reason, message, times, last])).toEqual([
      ['a', 'BackOff', 'new', 6, at(40)],
      ['b', 'BackOff', 'other', 1, at(30)],
      ['a', 'Unhealthy', 'probe', 1, at(10)],
    ]);
  });

  test('have the time and the count of whatever wrote them, and none is older than asked for', () => {
    const found = byObject(
      [
        event('series', 'x', { series: { lastObservedTime: at(5), count: 7 }, eventTime: '2026-03-09T09:00:00Z' }),
        event('new', 'x', { eventTime: '2026-03-09T10:04:00.123456Z', lastTimestamp: null, count: null }),
        event('edge', 'x', { lastTimestamp: at(0) }),
        event('old', 'x', { lastTimestamp: '2026-03-09T09:59:59Z' }),
        event('never', 'x', { lastTimestamp: 'soon' }),
      ],
      SINCE,
    );
    expect(found.map(({ name, times }) => [name, times])).toEqual([
      ['series', 7],
      ['new', 1],
      ['edge', 1],
    ]);
  });

  test('of objects of one name in two namespaces, or of two kinds, are apart', () => {
    const about = (involvedObject: object) => event('x', 'r', { involvedObject, lastTimestamp: at(1) });
    const found = byObject(
      [
        about({ kind: 'Pod', namespace: 'a', name: 'x' }),
        about({ kind: 'Pod', namespace: 'b', name: 'x' }),
        about({ kind: 'Node', name: 'x' }),
        about({}),
      ],
      SINCE,
    );
    expect(found.map(({ kind, namespace, name }) => [kind, namespace, name])).toEqual([
      ['Pod', 'a', 'x'],
      ['Pod', 'b', 'x'],
      ['Node', '', 'x'],
      ['', '', ''],
    ]);
  });
});

describe('W-25 an event', () => {
  const about = { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web-1' };

  test('is read in both of its forms', () => {
    const read = { ...{ type: 'Warning', reason: 'BackOff', message: 'again' }, last: at(3), times: 4, ...about };
    const said = { type: 'Warning', reason: 'BackOff' };
    expect(readEvent({ ...said, involvedObject: about, message: 'again', lastTimestamp: at(3), count: 4 })).toEqual(
      read,
    );
    const newer = { ...said, regarding: about, note: 'again', eventTime: at(1) };
    expect(readEvent({ ...newer, series: { count: 4, lastObservedTime: at(3) } })).toEqual(read);
    expect(readEvent({ ...newer, deprecatedLastTimestamp: at(3), deprecatedCount: 4 })).toEqual(read);
  });

  test.each([
    [{ lastTimestamp: at(2), eventTime: at(1) }, at(2)],
    [{ lastTimestamp: at(1), eventTime: '2026-03-09T10:02:00.000001Z' }, '2026-03-09T10:02:00.000001Z'],
    [{ lastTimestamp: null, deprecatedLastTimestamp: at(3), eventTime: at(1) }, at(3)],
    [{ lastTimestamp: 'soon', eventTime: at(1) }, at(1)],
    [{ lastTimestamp: 'soon' }, 'soon'],
    [{ metadata: { creationTimestamp: at(1) } }, at(1)],
    [{}, ''],
  ])('was seen at the latest of its times: %j', (event, last) => {
    expect(readEvent(event).last).toBe(last);
  });

  test('is read as empty where it says nothing, or something else than a text', () => {
    const empty = { type: '', reason: '', message: '', last: '', times: 1 };
    const nothing = { ...empty, apiVersion: '', kind: '', namespace: '', name: '' };
    for (const event of [{}, null, 'text', { involvedObject: 'x', message: { a: 1 }, count: -1, series: [] }])
      expect(readEvent(event)).toEqual(nothing);
  });
});
