import { expect, test } from 'vitest';
import { ShownPods } from '../../../../web/live-logs/shown-pods.ts';
import type { PodRecord, StreamLine } from '../../../../web/live-logs/stream-record.ts';

const event = (name: PodRecord['event'], pod: string): PodRecord => ({ type: 'pod', event: name, pod, message: '' });
const line = (pod: string, container: string): StreamLine => ({
  ...{ type: 'line', pod, container, time: '', text: '' },
});

test('pods come and go, and keep their colours', () => {
  const pods = new ShownPods();
  pods.opened();
  expect([event('joined', 'a'), event('joined', 'b'), event('left', 'a')].map((one) => pods.noteEvent(one))).toEqual([
    ...[true, true, true],
  ]);
  pods.noteEvent(event('joined', 'a'));
  pods.show();
  expect([...pods.pods.value.values()]).toEqual([
    { name: 'a', colour: 0, isHere: true },
    { name: 'b', colour: 1, isHere: true },
  ]);
});

test('a stream that is opened again tells of new pods only, and one that is missing is gone', () => {
  const pods = new ShownPods();
  for (const name of ['a', 'b']) pods.noteEvent(event('joined', name));
  pods.opened();
  expect(['a', 'c'].map((name) => pods.noteEvent(event('joined', name)))).toEqual([false, true]);
  expect(pods.noteEvent(event('restarted', 'a'))).toBe(true);
  pods.show();
  expect([...pods.pods.value.values()].map(({ name, isHere }) => [name, isHere])).toEqual([
    ['a', true],
    ['b', false],
    ['c', true],
  ]);
});

test('containers are named once, in order', () => {
  const pods = new ShownPods();
  for (const name of ['web', 'side', 'web']) pods.noteLine(line('a', name));
  pods.show();
  expect(pods.containers.value).toEqual(['side', 'web']);
});

test('pods that are gone are forgotten when there are very many', () => {
  const pods = new ShownPods();
  for (let count = 0; count < 500; count++) {
    pods.noteEvent(event('joined', `pod-${count}`));
    if (count > 0) pods.noteEvent(event('left', `pod-${count}`));
  }
  pods.show();
  expect(pods.pods.value.size).toBeLessThanOrEqual(201);
  expect(pods.pods.value.has('pod-0')).toBe(true);
});
