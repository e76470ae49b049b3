import { describe, expect, test } from 'vitest';
import { byObject } from '../../../web/api/events.ts';
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
