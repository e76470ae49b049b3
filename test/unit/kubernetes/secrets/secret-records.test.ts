import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../src/kubernetes/object.ts';
import { ClusterSecretRecords, SecretMirror } from '../../../../src/kubernetes/secrets/secret-records.ts';
import { ALWAYS_CURRENT } from '../../../support/always-current.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

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
  const freshness = { hasSynced: () => true, proof: ALWAYS_CURRENT, stalenessMs: () => 0, idleMs: () => 0 };
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

  test('is gone when neither the watch nor the read has it any more', async () => {
    const { mirror, records, put, answer, version } = reading();
    put(secret('10'));
    const refreshed = records.refresh('record');
    mirror.remove(KEY);
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

/** Records whose writes are all answered so. */
function writing(answer: string | KubernetesObject) {
  const mirror = new SecretMirror({ clock: new FakeClock(), observeLag: () => {} });
  const sent: unknown[][] = [];
  const answered =
    (verb: string) =>
    (...asked: unknown[]) => {
      sent.push([verb, ...asked]);
      return Promise.resolve(answer as never);
    };
  const requests = {
    get: answered('get'),
    create: answered('create'),
    replace: answered('replace'),
    remove: answered('remove'),
  };
  const freshness = { hasSynced: () => false, proof: { at: 7 }, stalenessMs: () => 0, idleMs: () => 0 };
  const labels = { kind: 'session' };
  const records = new ClusterSecretRecords({ requests, namespace: 'default', labels, mirror, freshness });
  mirror.put(mirror.toEntry(secret('10')));
  return { mirror, records, sent };
}

describe('records', () => {
  const data = { a: Buffer.from('a') };

  test('are told by their names, without the namespace', () => {
    const { mirror, records } = writing('conflict');
    const changed: string[] = [];
    records.onChange((name) => changed.push(name));
    mirror.put(mirror.toEntry(secret('11')));
    expect([[...records.names()], changed]).toEqual([['record'], ['record']]);
  });

  test('are as fresh as the mirror', () => {
    const { records } = writing('conflict');
    expect([records.hasSynced(), records.proof]).toEqual([false, { at: 7 }]);
  });

  test('that are created carry our labels, and are known at once', async () => {
    const { records, sent } = writing({ metadata: { ...secret('12', 'n').metadata, name: 'new' } });
    expect(await records.create('new', data)).toBe('created');
    expect(sent).toEqual([['create', 'new', data, { kind: 'session' }]]);
    expect(records.get('new')?.version).toBe('12');
  });

  test('that exist are not created', async () => {
    const { records } = writing('exists');
    expect(await records.create('new', data)).toBe('exists');
    expect(records.get('new')).toBeUndefined();
  });

  test('are changed and removed at their version alone, and nothing is asked for another', async () => {
    const { records, sent } = writing('conflict');
    expect(await records.update('record', data, '9')).toBe('conflict');
    expect(await records.remove('record', '9')).toBe('conflict');
    expect(await records.remove('none', '10')).toBe('conflict');
    expect(sent).toEqual([]);
  });

  test('that are changed are known at once', async () => {
    const { records, sent } = writing(secret('12'));
    expect(await records.update('record', data, '10')).toBe('updated');
    expect(sent).toEqual([['replace', secret('10'), data]]);
    expect(records.get('record')?.version).toBe('12');
  });

  test('that are removed are gone at once', async () => {
    const { records, sent } = writing('removed');
    expect(await records.remove('record', '10')).toBe('removed');
    expect(sent).toEqual([['remove', secret('10')]]);
    expect(records.get('record')).toBeUndefined();
  });

  test('that somebody else changed stay as they are known', async () => {
    const { records } = writing('conflict');
    expect(await records.update('record', data, '10')).toBe('conflict');
    expect(await records.remove('record', '10')).toBe('conflict');
    expect(records.get('record')?.version).toBe('10');
  });
});
