import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../src/kubernetes/object.ts';
import { SecretMirror } from '../../../../src/kubernetes/secrets/secret-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { replaceAll } from '../../../support/replace-all.ts';

const KEY = 'default/record';
const secret = (resourceVersion: string, uid = 'first'): KubernetesObject => ({
  kind: 'Secret',
  metadata: { name: 'record', namespace: 'default', uid, resourceVersion },
});

function mirrored() {
  const clock = new FakeClock();
  const lags: number[] = [];
  const changes: string[] = [];
  const mirror = new SecretMirror({ clock, observeLag: (seconds) => lags.push(seconds) });
  mirror.onChange((key) => changes.push(`${key}@${mirror.current(key)?.resourceVersion}`));
  const put = (object: KubernetesObject): void => mirror.put(mirror.toEntry(object));
  const list = (resourceVersion: string, objects: readonly KubernetesObject[], sameHistory = true): void =>
    replaceAll(
      mirror,
      objects.map((object) => mirror.toEntry(object)),
      { sameHistory, resourceVersion },
    );
  const current = (): string => {
    const entry = mirror.current(KEY);
    return entry ? `${entry.uid}@${entry.resourceVersion}` : 'absent';
  };
  return { clock, lags, changes, mirror, put, list, current };
}

describe('mirrored Secrets', () => {
  test('are as the watch tells', () => {
    const { mirror, put, current, changes } = mirrored();
    put(secret('10'));
    put(secret('11'));
    mirror.remove(KEY);
    expect([current(), changes]).toEqual(['absent', [`${KEY}@10`, `${KEY}@11`, `${KEY}@undefined`]]);
  });

  test('are as we wrote them until the watch has caught up, which tells nothing new', () => {
    const { mirror, put, current, changes, clock, lags } = mirrored();
    put(secret('10'));
    mirror.learned(secret('12'), 'written');
    put(secret('11'));
    expect([current(), mirror.get(KEY)?.resourceVersion, lags]).toEqual(['first@12', '11', []]);
    return clock.advance(250).then(() => {
      put(secret('12'));
      put(secret('13'));
      expect([current(), lags]).toEqual(['first@13', [0.25]]);
      expect(changes).toEqual([`${KEY}@10`, `${KEY}@12`, `${KEY}@13`]);
    });
  });

  test('do not go back to what a read brings late', () => {
    const { mirror, put, current } = mirrored();
    put(secret('12'));
    mirror.learned(secret('11'), 'read');
    expect(current()).toBe('first@12');
  });

  test('I2 do not go back to a list that is older than our write, and follow one that is newer', () => {
    const { mirror, list, current, lags } = mirrored();
    mirror.learned(secret('20'), 'written');
    list('15', []);
    expect(current()).toBe('first@20');
    list('25', [secret('24')]);
    expect([current(), lags.length]).toEqual(['first@24', 1]);
    mirror.learned(secret('30'), 'written');
    list('31', []);
    expect(current()).toBe('absent');
  });

  test('C-23 follow a restored cluster whatever we wrote before', () => {
    const { mirror, list, current } = mirrored();
    mirror.learned(secret('20'), 'written');
    list('15', [secret('14')], false);
    expect(current()).toBe('first@14');
  });

  test('are gone once we removed them, though the watch still shows them, until somebody makes them anew', () => {
    const { mirror, put, current, changes } = mirrored();
    put(secret('10'));
    mirror.learnedGone({ key: KEY, uid: 'first' });
    put(secret('11'));
    expect(current()).toBe('absent');
    mirror.remove(KEY);
    put(secret('14', 'second'));
    expect([current(), changes]).toEqual(['second@14', [`${KEY}@10`, `${KEY}@undefined`, `${KEY}@14`]]);
  });

  test('are as the watch tells again once it has told of the end of what we removed', () => {
    const { mirror, put, list, current } = mirrored();
    put(secret('10'));
    mirror.learnedGone({ key: KEY, uid: 'first' });
    list('15', []);
    put(secret('16'));
    expect(current()).toBe('first@16');
  });

  test('stay when the one that was found gone has a successor by now', () => {
    const { mirror, put, current } = mirrored();
    put(secret('10'));
    mirror.remove(KEY);
    mirror.learned(secret('14', 'second'), 'written');
    mirror.learnedGone({ key: KEY, uid: 'first' });
    expect(current()).toBe('second@14');
  });

  test('stay when we made them anew and the watch tells the end of the one before', () => {
    const { mirror, put, current } = mirrored();
    put(secret('10'));
    mirror.learnedGone({ key: KEY, uid: 'first' });
    mirror.learned(secret('13', 'second'), 'written');
    mirror.remove(KEY);
    expect(current()).toBe('second@13');
    put(secret('13', 'second'));
    mirror.remove(KEY);
    expect(current()).toBe('absent');
  });

  test('are counted with those the watch has yet to tell of', () => {
    const { mirror, put } = mirrored();
    put(secret('10'));
    mirror.learned({ metadata: { name: 'new', namespace: 'default', uid: 'n', resourceVersion: '11' } }, 'written');
    expect([...mirror.currentEntries()].map(({ key }) => key)).toEqual([KEY, 'default/new']);
    expect(mirror.size).toBe(1);
  });

  test('are not counted with those that we removed and the watch still shows', () => {
    const { mirror, put } = mirrored();
    put(secret('10'));
    mirror.learnedGone({ key: KEY, uid: 'first' });
    expect([[...mirror.currentEntries()], mirror.size]).toEqual([[], 1]);
  });
});
