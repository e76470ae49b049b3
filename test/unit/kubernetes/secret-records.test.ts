import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import { SecretMirror } from '../../../src/kubernetes/secrets/secret-mirror.ts';
import { ClusterSecretRecords } from '../../../src/kubernetes/secrets/secret-records.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const KEY = 'default/record';
const secret = (resourceVersion: string, uid = 'first'): KubernetesObject => ({
  kind: 'Secret',
  metadata: { name: 'record', namespace: 'default', uid, resourceVersion },
});

/** Records whose one read is answered by the test. */
function reading() {
  const mirror = new SecretMirror({ clock: new FakeClock(), observeLag: () => {} });
  const answer = Promise.withResolvers<KubernetesObject | undefined>();
  const unused = (): never => {
    throw new Error('not asked for');
  };
  const requests = { get: () => answer.promise, create: unused, replace: unused, remove: unused };
  const freshness = { hasSynced: () => true, stalenessMs: () => 0, idleMs: () => 0 };
  const records = new ClusterSecretRecords({ requests, namespace: 'default', labels: {}, mirror, freshness });
  const put = (object: KubernetesObject): void => mirror.put(mirror.toEntry(object));
  return { mirror, records, put, answer: answer.resolve, version: () => records.get('record')?.version };
}

describe('a record that is read past the watch', () => {
  test('is as it was read', async () => {
    const { records, put, answer, version } = reading();
    put(secret('10'));
    const refreshed = records.refresh('record');
    answer(secret('12'));
    await refreshed;
    expect(version()).toBe('12');
  });

  test('is gone when the read does not find it', async () => {
    const { records, put, answer, version } = reading();
    put(secret('10'));
    const refreshed = records.refresh('record');
    answer(undefined);
    await refreshed;
    expect(version()).toBeUndefined();
  });

  test('stays gone when the watch told of its end before the answer came', async () => {
    const { mirror, records, put, answer, version } = reading();
    put(secret('10'));
    const refreshed = records.refresh('record');
    mirror.remove(KEY);
    answer(secret('10'));
    await refreshed;
    expect(version()).toBeUndefined();
  });

  test('is its successor when that was read', async () => {
    const { mirror, records, put, answer, version } = reading();
    put(secret('10'));
    const refreshed = records.refresh('record');
    mirror.remove(KEY);
    answer(secret('14', 'second'));
    await refreshed;
    expect(version()).toBe('14');
  });
});
