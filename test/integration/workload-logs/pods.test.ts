import { describe, expect, test } from 'vitest';
import { startWorkload } from './workload-stand.ts';

const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => `line ${from + at}`);

describe('G-28 pods that come and go', () => {
  test('a pod that is new joins, with a record that says so and all its lines', async () => {
    const stand = await startWorkload(['web-a']);
    const reading = await stand.follow('deployments/web/log?tailLines=0');
    await reading.until(() => reading.events.includes('joined web-a'));
    stand.addPod('web-new');
    stand.write('web-new', ...numbered(0, 300));
    await reading.until(() => reading.texts('web-new').length >= 300);
    expect(reading.texts('web-new')).toEqual(numbered(0, 300));
    expect(reading.events).toEqual(['joined web-a', 'joined web-new']);
  });

  test('a pod that is deleted leaves after its last line', async () => {
    const stand = await startWorkload();
    const reading = await stand.follow();
    stand.write('web-a', 'one');
    await reading.until(() => reading.texts().includes('one'));
    stand.write('web-a', 'the last words');
    stand.removePod('web-a');
    await reading.until(() => reading.events.includes('left web-a'));
    expect(reading.records.at(-1)).toEqual({ type: 'pod', event: 'left', pod: 'web-a', message: 'gone' });
    expect(reading.texts('web-a')).toEqual(['one', 'the last words']);
    stand.write('web-b', 'still here');
    await reading.until(() => reading.texts().includes('still here'));
  });

  test('a pod with other owners is not followed, whatever its labels', async () => {
    const stand = await startWorkload(['web-a']);
    stand.addPod('stray', { metadata: { ownerReferences: null } });
    const reading = await stand.follow('deployments/web/log?follow=false');
    expect(await reading.ended()).toMatchObject({ type: 'end', reason: 'finished' });
    expect(reading.events).toEqual(['joined web-a']);
  });

  test('a pod of a stateful set that is replaced leaves before the new one of its name joins', async () => {
    const stand = await startWorkload([]);
    const { objects } = stand.cluster;
    const set = objects.create('statefulsets', {
      metadata: { name: 'db', namespace: 'shop' },
      spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'web'] }] } },
    });
    const owned = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: set.metadata.uid, controller: true }];
    stand.addPod('db-0', { metadata: { ownerReferences: owned } });
    const reading = await stand.follow('statefulsets/db/log');
    stand.write('db-0', 'old');
    await reading.until(() => reading.texts().includes('old'));
    stand.removePod('db-0');
    stand.addPod('db-0', { metadata: { ownerReferences: owned } });
    stand.write('db-0', 'new');
    await reading.until(() => reading.texts().includes('new'));
    expect(reading.events).toEqual(['joined db-0', 'left db-0', 'joined db-0']);
    expect(reading.texts()).toEqual(['old', 'new']);
  });

  test('of 73 pods the 50 that are ready and the newest are shown, and a record says how many there are', async () => {
    const name = (at: number): string => `web-${String(at).padStart(2, '0')}`;
    const stand = await startWorkload([]);
    for (let at = 0; at < 73; at++) {
      const creationTimestamp = `2026-01-01T00:${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}Z`;
      // The newest five are not ready.
      const conditions = [{ type: 'Ready', status: at < 68 ? 'True' : 'False' }];
      stand.addPod(name(at), { metadata: { creationTimestamp }, status: { conditions } });
      stand.write(name(at), `line of ${name(at)}`);
    }
    const reading = await stand.follow();
    await reading.until(() => reading.texts().length === 50);
    expect(reading.records.filter(({ type }) => type === 'more')).toEqual([
      {
        ...{ type: 'more', shown: 50, pods: 73 },
        message: '50 of 73 pods are shown: the ready ones first, then the newest',
      },
    ]);
    expect(reading.texts().toSorted()).toEqual(Array.from({ length: 50 }, (_, at) => `line of ${name(at + 18)}`));
    stand.removePod(name(40));
    await reading.until(() => reading.events.at(-1) === `joined ${name(17)}`);
    await reading.until((records) => records.at(-1)?.['type'] === 'line');
    expect(reading.records.findLast(({ type }) => type === 'more')).toMatchObject({ shown: 50, pods: 72 });
  });

  test('of another workload with the same labels are not those of one pod', async () => {
    const stand = await startWorkload();
    const reading = await stand.follow('pods/web-a/log');
    stand.write('web-a', 'one');
    stand.write('web-b', 'of another pod');
    await reading.until(() => reading.texts().includes('one'));
    expect(reading.texts()).toEqual(['one']);
  });
});
