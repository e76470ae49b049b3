import { describe, expect, test } from 'vitest';
import { userRef } from '../../../src/accounts/names.ts';
import { createLoginRecordLists } from '../../../src/accounts/records/fetched-records.ts';
import type { KubernetesObject } from '../../../src/kubernetes/object.ts';
import type { ListOptions } from '../../../src/kubernetes/objects/cluster-objects.ts';
import { NAMES } from '../../support/accounts/memory-user-records.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const record = (name: string, second: number, type = 'Token'): KubernetesObject => ({
  kind: 'LoginRecord',
  apiVersion: NAMES.apiVersion,
  metadata: {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    creationTimestamp: `2026-01-01T00:00:0${second}Z`,
    managedFields: [],
  },
  spec: { type, success: true },
});

function lists(answer: () => Promise<readonly KubernetesObject[]>) {
  const selectors: string[] = [];
  const ages: boolean[] = [];
  const list = (selector: string, options?: ListOptions) => {
    selectors.push(selector);
    ages.push(options?.mayBeOld ?? false);
    return answer();
  };
  const clock = new FakeClock();
  const records = createLoginRecordLists(NAMES, { list }, clock);
  const read = async (query = '', user = 'mia') =>
    JSON.parse(Buffer.from(await records.listOf(user, query)).toString());
  return { selectors, ages, clock, read, records };
}

const names = ({ items }: { items: { metadata: { name: string } }[] }) => items.map(({ metadata }) => metadata.name);

describe('the login records of a user', () => {
  const stored = [record('mia-b', 1), record('mia-a', 2, 'Password'), record('mia-c', 1)];

  test('are listed as any list, newest first', async () => {
    const { read, selectors } = lists(async () => stored);
    expect(await read('limit=1&page=3')).toEqual({
      items: [
        {
          metadata: {
            name: 'mia-b',
            uid: 'uid-mia-b',
            resourceVersion: '1',
            creationTimestamp: '2026-01-01T00:00:01Z',
          },
          spec: { type: 'Token', success: true },
        },
      ],
      totalItems: 3,
    });
    expect(names(await read())).toEqual(['mia-a', 'mia-c', 'mia-b']);
    expect(names(await read('sortBy=name&ascending=true'))).toEqual(['mia-a', 'mia-b', 'mia-c']);
    expect(names(await read('type=Password'))).toEqual(['mia-a']);
    expect(selectors[0]).toBe('iam.gatehouse.io/user-ref=mia');
  });

  test('are asked for by a label’s value, however long the name', async () => {
    const { read, selectors } = lists(async () => []);
    const long = 'x'.repeat(100);
    expect(await read('', long)).toEqual({ items: [], totalItems: 0 });
    expect(selectors).toEqual([`iam.gatehouse.io/user-ref=${userRef(long)}`]);
    expect(userRef(long)).toMatch(/^[0-9a-f]{63}$/);
  });

  test('may be old, because they are only shown', async () => {
    const { read, ages } = lists(async () => stored);
    await read();
    expect(ages).toEqual([true]);
  });

  test('an unknown parameter is refused before the cluster is asked', async () => {
    const { read, selectors } = lists(async () => []);
    await expect(read('success=true')).rejects.toThrow('unknown query parameter "success"');
    expect(selectors).toEqual([]);
  });

  test('are asked for once by all who ask at a time or within 2 s, and again afterwards', async () => {
    const { clock, read, selectors } = lists(async () => stored);
    await Promise.all([read(), read('limit=1'), read('', 'joe')]);
    await clock.advance(1_900);
    expect(names(await read('type=Password'))).toEqual(['mia-a']);
    expect(selectors.length).toBe(2);
    await clock.advance(200);
    await read();
    expect(selectors.length).toBe(3);
  });

  test('are asked for by four calls at a time, and the others wait for their turn', async () => {
    const answers: ((found: readonly KubernetesObject[]) => void)[] = [];
    const { clock, read, selectors } = lists(() => new Promise((resolve) => answers.push(resolve)));
    const all = Promise.all(Array.from({ length: 6 }, (_, index) => read('', `user-${index}`)));
    await clock.advance(1000);
    expect(selectors.length).toBe(4);
    answers[0]?.([]);
    await clock.advance(1000);
    expect(selectors.length).toBe(5);
    for (let answered = 1; answered < 6; answered++) {
      answers[answered]?.([]);
      await clock.advance(100);
    }
    expect(await all).toHaveLength(6);
  });

  test('leave out those of a longer name, whose label is the name of this user', async () => {
    const long = 'x'.repeat(100);
    const name = userRef(long);
    const { read } = lists(async () => [record(`${long}-a`, 1), record(`${name}-b`, 2), record('odd', 3)]);
    expect(names(await read('', name))).toEqual(['odd', `${name}-b`]);
    expect(names(await read('', long))).toEqual([`${long}-a`]);
  });

  test('are 503 while the cluster does not answer, and asked for again', async () => {
    const { read, selectors } = lists(() => Promise.reject(new Error('no answer')));
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(read()).rejects.toMatchObject({
        answer: { code: 503, details: { retryAfterSeconds: 5 }, message: expect.stringContaining('loginrecords') },
      });
    }
    expect(selectors.length).toBe(2);
  });

  test('leave out an object that cannot be understood', async () => {
    const odd = { ...record('odd', 1), metadata: { ...record('odd', 1).metadata, labels: { a: 1 } } };
    const { read } = lists(async () => [odd as unknown as KubernetesObject, record('mia-a', 1)]);
    expect(await read()).toMatchObject({ totalItems: 1 });
  });
});
