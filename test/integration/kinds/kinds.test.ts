import { describe, expect, test } from 'vitest';
import { eventually } from '../service/stand.ts';
import { startKinds } from './kinds-stand.ts';

describe('the lists of every kind', () => {
  test('KD-10 the right is that of the kind itself, in the namespace of the path or in the whole cluster', async () => {
    const stand = await startKinds();
    expect(await stand.names('namespaces/red/pods?sortBy=name')).toEqual(['red/web-1', 'red/db-1']);
    expect(await stand.names('pods?limit=2&sortBy=name&ascending=true')).toEqual(['blue/db-1', 'green/db-1']);
    const refused = await stand.ask('namespaces/red/pods', 'joe');
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'pods is forbidden: User "joe" cannot list resource "pods" in API group "" in the namespace "red"',
    ]);
    stand.allow('red');
    expect(await stand.names('namespaces/red/pods', 'joe')).toHaveLength(2);
    expect(await stand.names('namespaces/blue/pods', 'joe')).toBe(403);
  });

  test('KD-12 a caller without the right to all namespaces gets one list over those where they have it', async () => {
    const stand = await startKinds();
    expect(await stand.names('pods', 'joe')).toBe(403);
    stand.allow('red');
    stand.allow('blue');
    const answer = await eventually(
      () => stand.ask('pods?sortBy=name&ascending=true&limit=3', 'joe'),
      ({ status, body }) => status === 200 && body.totalItems === 4,
    );
    expect(answer.headers.get('gatehouse-scope')).toBe('permitted; namespaces=2');
    expect(await stand.names('pods?sortBy=name&ascending=true&limit=3', 'joe')).toEqual([
      'blue/db-1',
      'red/db-1',
      'blue/web-1',
    ]);
    expect(await stand.names('pods?labelSelector=app=web&sortBy=name', 'joe')).toEqual(['red/web-1', 'blue/web-1']);
  });

  test('a watch over what the caller may see is told of lost and of new namespaces', async () => {
    const stand = await startKinds();
    const revoke = stand.allow('red');
    const watch = await stand.watch('pods?watch=true', 'joe');
    await eventually(
      async () => watch.story,
      (story) => story.filter((line) => line.startsWith('ADDED')).length === 2,
    );
    stand.allow('blue');
    revoke();
    await expect.poll(() => watch.story.filter((line) => !line.startsWith('BOOKMARK')), { timeout: 60_000 }).toEqual([]);
  }, 70_000);
});
