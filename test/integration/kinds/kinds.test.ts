import { describe, expect, test } from 'vitest';
import { namespaceObject, podObject, startKinds } from './kinds-stand.ts';

/** Longer than the cluster's decisions, and the scopes made of them, hold. */
const DECISIONS_MS = 25_000;

const changes = (story: readonly string[]): string[] => story.filter((line) => !line.startsWith('BOOKMARK'));

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
    await stand.clock.spend(DECISIONS_MS);
    expect(await stand.names('namespaces/red/pods', 'joe')).toHaveLength(2);
    expect(await stand.names('namespaces/blue/pods', 'joe')).toBe(403);
  });

  test('KD-13 a caller without the right to all namespaces gets one list over those where they have it', async () => {
    const stand = await startKinds();
    stand.allow('red');
    stand.allow('blue');
    const answer = await stand.ask('pods?sortBy=name&ascending=true&limit=3', 'joe');
    expect([answer.status, answer.body.totalItems, answer.headers.get('gatehouse-scope')]).toEqual([
      200,
      4,
      'permitted; namespaces=2',
    ]);
    expect(await stand.names('pods?sortBy=name&ascending=true&limit=3', 'joe')).toEqual([
      'blue/db-1',
      'red/db-1',
      'blue/web-1',
    ]);
    expect(await stand.names('pods?labelSelector=app=web&sortBy=name', 'joe')).toEqual(['red/web-1', 'blue/web-1']);
  });

  test('KD-12 a watch over what the caller may see is told of lost and of new namespaces', async () => {
    const stand = await startKinds();
    const revoke = stand.allow('red');
    const watch = await stand.watch('pods?watch=true', 'joe');
    await stand.clock.until(
      () => changes(watch.story),
      ({ length }) => length === 2,
    );
    stand.allow('blue');
    revoke();
    await stand.clock.until(
      () => changes(watch.story),
      ({ length }) => length === 6,
    );
    const story = watch.events
      .filter(({ type }) => type !== 'BOOKMARK')
      .map(({ type, object: { metadata } }) => `${type} ${metadata.namespace}/${metadata.name}`);
    expect(story.slice(2).sort()).toEqual([
      'ADDED blue/db-1',
      'ADDED blue/web-1',
      'DELETED red/db-1',
      'DELETED red/web-1',
    ]);
    stand.cluster.objects.create('pods', podObject('red', 'web-2'));
    stand.cluster.objects.create('pods', podObject('blue', 'web-2'));
    await stand.clock.until(
      () => changes(watch.story),
      ({ length }) => length >= 7,
    );
    expect(changes(watch.story).slice(6)).toEqual(['ADDED web-2']);
  });

  test('KD-11 namespaces that the caller may see are listed on request', async () => {
    const stand = await startKinds();
    stand.cluster.objects.create('namespaces', namespaceObject('grey'));
    stand.allow('red');
    expect(await stand.names('namespaces', 'joe')).toBe(403);
    for (const word of ['true', 'True', 't', '1'])
      expect(await stand.names(`namespaces?permitted=${word}`, 'joe')).toEqual(['red']);
    expect(await stand.names('namespaces?permitted=false', 'joe')).toBe(403);
  });
});
