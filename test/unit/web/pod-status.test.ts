import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { podReason as serverReason, podRestarts as serverRestarts } from '../../../src/kinds/words/pod-status.ts';
import { podReason, restartsOf } from '../../../web/views/pod-status.ts';
import { Largest } from '../../support/largest.ts';
import { checkSizes } from '../../support/property.ts';

const reason = fc.constantFrom('', 'Completed', 'Error', 'CrashLoopBackOff', 'PodInitializing');
const members = <T extends object>(model: { [Member in keyof T]: fc.Arbitrary<T[Member]> }) =>
  fc.record(model, { requiredKeys: [] });

const state = fc.oneof(
  fc.constant({}),
  fc.constant({ running: {} }),
  fc.record({ waiting: members({ reason }) }),
  fc.record({ terminated: members({ reason, exitCode: fc.constantFrom(0, 1), signal: fc.constantFrom(0, 9) }) }),
);

const container = (names: readonly string[]) =>
  members({
    ...{ name: fc.constantFrom(...names), state, restartCount: fc.nat(9) },
    ...{ ready: fc.boolean(), started: fc.boolean() },
  });

const condition = members({
  type: fc.constantFrom('Initialized', 'Ready', 'PodScheduled'),
  status: fc.constantFrom('True', 'False'),
  reason: fc.constantFrom('PodCompleted', 'SchedulingGated'),
});

const INIT = ['i0', 'i1', 'i2'];

const pod = fc.record({
  metadata: fc.constantFrom({ name: 'a' }, { name: 'a', deletionTimestamp: '2026-01-02T00:00:00Z' }),
  spec: fc.constant({ initContainers: [{ name: 'i0' }, { name: 'i1', restartPolicy: 'Always' }, { name: 'i2' }] }),
  status: members({
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
    reason: fc.constantFrom('', 'NodeLost', 'Evicted'),
    conditions: fc.array(condition, { maxLength: 3, size: 'max' }),
    initContainerStatuses: fc.array(container(INIT), { maxLength: 3, size: 'max' }),
    containerStatuses: fc.array(container(['c']), { maxLength: 3, size: 'max' }),
  }),
});

describe('KW-21 what the columns of pods show', () => {
  test('is what the server sorts by, for any pod', () => {
    const largest = new Largest('the pods of one case', 'pods');
    checkSizes(
      ({ upTo }) =>
        fc.property(fc.array(pod, upTo(200)), (pods) => {
          largest.see(pods.length);
          for (const one of pods) {
            const stored = one as never;
            expect([podReason(stored), restartsOf(stored)]).toEqual([serverReason(stored), serverRestarts(stored)]);
          }
        }),
      { cases: 200, short: 40 },
    );
    largest.expectAtLeast(15);
  });

  test('is right where the cluster answers what no pod has', () => {
    for (const status of [{ containerStatuses: 'none' }, { containerStatuses: [null, 7, 'x'] }, null, 3]) {
      const stored = { metadata: { name: 'a' }, status } as never;
      expect([podReason(stored), restartsOf(stored)]).toEqual(['', 0]);
    }
  });
});
