import { describe, expect, test } from 'vitest';
import { nodeStatusWord } from '../../../src/nodes/node-kind.ts';
import { makeNode } from '../resources/node-objects.ts';

/** `Ready=True,DiskPressure=False` as conditions. */
const conditionsOf = (text: string) =>
  text.split(',').map((pair) => ({ type: pair.split('=')[0], status: pair.split('=')[1] }));

const wordOf = (conditions: unknown, unschedulable?: unknown) =>
  nodeStatusWord(makeNode('n', {}, { spec: { unschedulable }, status: { conditions } }));

describe('status word', () => {
  test('NS-01 unschedulable comes before unhealthy', () => {
    expect(wordOf(conditionsOf('Ready=False'), true)).toBe('unschedulable');
  });

  test.each([
    ...['Ready=Unknown', 'Ready=False', 'MemoryPressure=True', 'MemoryPressure=Unknown', 'KubeletReady=False'],
    ...[
      'ConfigOK=False',
      'DiskPressure=false',
      'PIDPressure=True',
      'NetworkUnavailable=True',
      'Ready=True,PIDPressure=True',
    ],
  ])('NS-02 %s is a warning', (text) => {
    expect(wordOf(conditionsOf(text))).toBe('warning');
  });

  test.each([
    'Ready=True,MemoryPressure=False,DiskPressure=False,PIDPressure=False,NetworkUnavailable=False',
    'MemoryPressure=False',
    'Ready=True,KernelDeadlock=True',
  ])('NS-03 %s is running', (text) => {
    expect(wordOf(conditionsOf(text))).toBe('running');
  });

  test.each([[undefined], [null], ['odd'], [{}], [[null, 1, 'x']]])('NS-03 conditions %j are running', (conditions) => {
    expect(wordOf(conditions, 'true')).toBe('running');
    expect(nodeStatusWord(makeNode('n', {}, { spec: null, status: conditions }))).toBe('running');
  });
});
