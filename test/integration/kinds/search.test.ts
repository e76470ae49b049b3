import { describe, expect, test } from 'vitest';
import type { Answer, Person } from '../service/stand.ts';
import { type KindsStand, startKinds } from './kinds-stand.ts';

/** Longer than the cluster's decisions, and the scopes made of them, hold. */
const DECISIONS_MS = 25_000;

/** With pods in memory. */
async function startSearch(change: Parameters<typeof startKinds>[1] = {}): Promise<KindsStand> {
  const stand = await startKinds(['red', 'green', 'blue'], change);
  expect(await stand.names('pods')).toHaveLength(6);
  return stand;
}

const search = (stand: KindsStand, query: string, person: Person = 'ada'): Promise<Answer> =>
  stand.ask(`search?q=${encodeURIComponent(query)}`, person);

/** Kind, namespace and name of each item. */
const found = ({ body }: Answer): string[] =>
  body.items.map(({ kind, metadata: { namespace = '', name } }: Item) => `${kind} ${namespace}/${name}`);

interface Item {
  readonly kind: string;
  readonly metadata: { readonly namespace?: string; readonly name: string };
}

describe('the search over all kinds in memory', () => {
  test('KD-40 answers the metadata of what matches, by kind, and says what it left out', async () => {
    const stand = await startSearch({ config: { kinds: { deny: ['services.'] } } });
    const answer = await search(stand, 'web');
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
    expect(found(answer)).toEqual(['Pod blue/web-1', 'Pod green/web-1', 'Pod red/web-1']);
    const [item] = answer.body.items;
    expect(Object.keys(item)).toEqual(['kind', 'apiVersion', 'resource', 'metadata']);
    expect([item.apiVersion, item.resource, item.metadata.labels]).toEqual(['v1', 'pods', { app: 'web' }]);
    expect(answer.body.totalItems).toEqual({ pods: 3 });
    expect(answer.body.leftOut).toEqual(
      expect.arrayContaining([
        { resource: 'configmaps', reason: 'not in memory' },
        { resource: 'services', reason: 'denied' },
        { resource: 'secrets', reason: 'denied' },
      ]),
    );
    const left = answer.body.leftOut.map(({ resource }: { resource: string }) => resource);
    for (const searched of ['pods', 'nodes', 'namespaces']) expect(left).not.toContain(searched);
    const again = await stand.ask('search?q=web', 'ada', { 'if-none-match': answer.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
  });

  test('KD-40 finds nodes and namespaces, labels and uids', async () => {
    const stand = await startSearch();
    expect(found(await search(stand, 'node-'))).toEqual([
      'Node /node-a',
      'Node /node-b',
      'Node /node-c',
      'Namespace /kube-node-lease',
    ]);
    expect(found(await search(stand, 'red'))).toEqual(['Namespace /red']);
    expect(found(await search(stand, 'app=db'))).toEqual(['Pod blue/db-1', 'Pod green/db-1', 'Pod red/db-1']);
    const { uid } = (await stand.ask('namespaces/red/pods/web-1')).body.metadata;
    expect(found(await search(stand, uid))).toEqual(['Pod red/web-1']);
  });

  test('KD-40 follows what changes', async () => {
    const stand = await startSearch();
    expect(found(await search(stand, 'web-1'))).toHaveLength(3);
    stand.cluster.objects.remove('pods', 'red/web-1');
    expect(
      found(
        await stand.clock.until(
          () => search(stand, 'web-1'),
          (answer) => found(answer).length < 3,
        ),
      ),
    ).toEqual(['Pod blue/web-1', 'Pod green/web-1']);
  });

  test('KD-40 shows no copy that kubectl apply stores', async () => {
    const stand = await startSearch();
    const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', note: 'kept' };
    const metadata = { name: 'applied', annotations: applied };
    stand.cluster.objects.create('namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata });
    const { body } = await stand.clock.until(
      () => search(stand, 'applied'),
      (answer) => found(answer).length > 0,
    );
    expect(body.items[0].metadata.annotations).toEqual({ note: 'kept' });
  });

  test('KD-40 refuses what it does not know, by name', async () => {
    const stand = await startSearch();
    const refused = await stand.ask('search?limit=501&foo=1');
    expect([refused.status, refused.body.details.causes.map(({ field }: { field: string }) => field)]).toEqual([
      400,
      ['limit', 'foo', 'q'],
    ]);
  });

  test('KD-41 shows each caller what the lists would show', async () => {
    const stand = await startSearch();
    stand.allow('red');
    stand.allow('blue');
    await stand.clock.spend(DECISIONS_MS);
    const answer = await search(stand, '-1', 'joe');
    expect(found(answer)).toEqual(['Pod blue/db-1', 'Pod blue/web-1', 'Pod red/db-1', 'Pod red/web-1']);
    expect(answer.body.totalItems).toEqual({ pods: 4 });
    expect(found(await search(stand, 'node', 'joe'))).toEqual([]);
    expect(found(await search(stand, 'e', 'joe'))).toEqual([
      'Namespace /blue',
      'Namespace /red',
      'Pod blue/web-1',
      'Pod red/web-1',
    ]);
  });

  test('KD-41 does not tell whether something exists that the caller may not see', async () => {
    const stand = await startSearch();
    const [existing, madeUp] = [await search(stand, 'web-1', 'joe'), await search(stand, 'no-such-name', 'joe')];
    expect([existing.status, existing.body.items, existing.body.totalItems]).toEqual([200, [], {}]);
    expect(existing.text).toBe(madeUp.text);
    expect(existing.headers.get('etag')).toBe(madeUp.headers.get('etag'));
  });

  test('KD-41 asks the cluster nothing for made-up words, and brings no kind into memory', async () => {
    const stand = await startSearch();
    await stand.clock.spend(DECISIONS_MS);
    const { evidence } = stand.cluster;
    const asked = (): string[] => evidence.requests.map(({ path }) => path).filter((path) => !DISCOVERY.has(path));
    const before = asked().length;
    const words = Array.from({ length: 100 }, (_, at) => `made-up-${at}`);
    const { service, tokens } = stand;
    const answers = await stand.clock.during(
      Promise.all(words.map((word) => service.call(`${SEARCH}?q=${word}`, { token: tokens.joe }))),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.items.length}`))).toEqual(new Set(['200 0']));
    expect(asked().slice(before)).toEqual([]);
    const left = (answers[0] as Answer).body.leftOut;
    expect(left).toContainEqual({ resource: 'configmaps', reason: 'not in memory' });
  });
});

const SEARCH = '/kapis/resources.gatehouse.io/v1alpha3/search';
/** Followed while anybody uses kinds, at the same pace however much they ask for. */
const DISCOVERY = new Set(['/api', '/apis']);
