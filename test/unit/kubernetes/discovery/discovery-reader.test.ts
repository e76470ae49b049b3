import { describe, expect, test } from 'vitest';
import type { DiscoveredKinds } from '../../../../src/kubernetes/discovery/discovery-reader.ts';
import { aggregated, aggregatedList, plain, scriptedDiscovery } from './scripted-discovery.ts';

const WIDGET = { resource: 'widgets', kind: 'Widget' };
const GADGET = { resource: 'gadgets', kind: 'Gadget', scope: 'Cluster', shortNames: ['gd'] };
const pods = {
  ...{ group: '', version: 'v1', resource: 'pods', kind: 'Pod', singularName: 'pod', shortNames: ['po'] },
  ...{ namespaced: true, verbs: ['create', 'delete', 'get', 'list', 'watch'] },
};

/** Each kind as `plural.version.group`. */
const namesIn = ({ kinds }: DiscoveredKinds): string[] =>
  kinds.map(({ resource, version, group }) => `${resource}.${version}.${group}`);

const FORMS = [
  ['aggregated', aggregated],
  ['plain', plain],
] as const;

describe.each(FORMS)('%s discovery', (_form, answersOf) => {
  test('KD-01 says which kinds the cluster has, with names, scope and verbs, and without subresources', async () => {
    const { read } = scriptedDiscovery(answersOf({ 'example.com': { v1: [GADGET] } }));
    const { kinds, awayGroups } = await read();
    const gadgets = {
      ...{ group: 'example.com', version: 'v1', resource: 'gadgets', kind: 'Gadget', singularName: 'gadget' },
      ...{ shortNames: ['gd'], namespaced: false, verbs: pods.verbs },
    };
    expect(kinds).toEqual([pods, gadgets]);
    expect(awayGroups.size).toBe(0);
  });

  test('KD-01 takes a kind in the version that its group prefers among those that have it', async () => {
    const { read } = scriptedDiscovery(answersOf({ 'example.com': { v2: [WIDGET], v1: [WIDGET, GADGET] } }));
    expect(namesIn(await read())).toEqual(['pods.v1.', 'widgets.v2.example.com', 'gadgets.v1.example.com']);
  });

  test('KD-01 keeps what was known of an API that is away, and of no other', async () => {
    const { paths, read } = scriptedDiscovery(
      answersOf({ 'example.com': { v1: [WIDGET] }, 'other.org': { v1: [GADGET] } }),
    );
    await read();
    Object.assign(paths, answersOf({ 'example.com': { v1: 'Stale' }, 'third.net': { v1: 'Stale' } }, '2'));
    const second = await read();
    expect(namesIn(second)).toEqual(['pods.v1.', 'widgets.v1.example.com']);
    expect([...second.awayGroups]).toEqual(['example.com', 'third.net']);
    Object.assign(paths, answersOf({ 'example.com': { v1: 'Stale' } }, '3'));
    expect(namesIn(await read())).toEqual(['pods.v1.', 'widgets.v1.example.com']);
    Object.assign(paths, answersOf({ 'example.com': { v1: [GADGET] } }, '4'));
    const last = await read();
    expect(namesIn(last)).toEqual(['pods.v1.', 'gadgets.v1.example.com']);
    expect(last.awayGroups.size).toBe(0);
  });

  test('KD-01 keeps what was known of the version that is away, beside another version of its group', async () => {
    const { paths, read } = scriptedDiscovery(answersOf({ 'example.com': { v2: [WIDGET], v1: [GADGET] } }));
    await read();
    Object.assign(paths, answersOf({ 'example.com': { v2: [WIDGET], v1: 'Stale' } }, '2'));
    expect(namesIn(await read())).toEqual(['pods.v1.', 'widgets.v2.example.com', 'gadgets.v1.example.com']);
  });

  test('has the singular name that the cluster gives, else the kind in lower case', async () => {
    const named = { ...WIDGET, singular: 'one-widget' };
    const { read } = scriptedDiscovery(answersOf({ 'example.com': { v1: [named, { ...GADGET, singular: '' }] } }));
    expect((await read()).kinds.map(({ singularName }) => singularName)).toEqual(['pod', 'one-widget', 'gadget']);
  });

  test('KD-01 keeps what is known while the API server is not ready, for a minute at most', async () => {
    const { paths, clock, read } = scriptedDiscovery(answersOf({ 'example.com': { v1: [WIDGET] } }));
    const before = await read();
    Object.assign(paths, answersOf({}, '2'), { '/readyz': { status: 500 } });
    const refusal = 'the API server is not ready, and does not list all its kinds';
    await expect(read()).rejects.toThrow(refusal);
    await clock.advance(57_000);
    await expect(read()).rejects.toThrow(refusal);
    Object.assign(paths, answersOf({ 'example.com': { v1: [WIDGET] } }, '3'));
    expect(await read()).toEqual(before);
    Object.assign(paths, answersOf({}, '4'));
    await expect(read()).rejects.toThrow(refusal);
    await clock.advance(57_000);
    await expect(read()).rejects.toThrow(refusal);
    await clock.advance(2_000);
    expect(namesIn(await read())).toEqual(['pods.v1.']);
  });

  test('KD-01 is read again if a kind has gone and the API server is ready, or does not let us ask', async () => {
    for (const status of [200, 403]) {
      const { paths, requests, read } = scriptedDiscovery(answersOf({ 'example.com': { v1: [WIDGET] } }));
      await read();
      Object.assign(paths, answersOf({ 'example.com': { v1: [GADGET] } }, '2'), { '/readyz': { status } });
      requests.length = 0;
      expect(namesIn(await read())).toEqual(['pods.v1.', 'gadgets.v1.example.com']);
      const asked = requests.map(({ path }) => path);
      expect([
        asked.filter((path) => path === '/apis').length,
        asked.filter((path) => path === '/readyz').length,
      ]).toEqual([2, 1]);
    }
  });

  test('KD-01 is taken as it is where kinds only come, without asking whether the API server is ready', async () => {
    const { paths, requests, read } = scriptedDiscovery(answersOf({}));
    await read();
    Object.assign(paths, answersOf({ 'example.com': { v1: [GADGET] } }, '2'), { '/readyz': { status: 500 } });
    expect(namesIn(await read())).toEqual(['pods.v1.', 'gadgets.v1.example.com']);
    expect(requests.map(({ path }) => path)).not.toContain('/readyz');
  });

  test('leaves out entries whose names cannot be parts of a path, and keeps the others', async () => {
    const odd = ['../secrets', 'a/b', 'UPPER', 'dotted.name', '', 'x'.repeat(64)].map((resource) => ({
      ...WIDGET,
      resource,
    }));
    const { read } = scriptedDiscovery(
      answersOf({ 'example.com': { v1: [...odd, { ...WIDGET, kind: 'no kind' }, GADGET] } }),
    );
    expect(namesIn(await read())).toEqual(['pods.v1.', 'gadgets.v1.example.com']);
  });

  test.each([
    ['of the roots', ['/api', '/apis']],
    ['of all others', ['/apis']],
  ])('rejects when the document %s is refused', async (_which, refused) => {
    const { paths, read } = scriptedDiscovery(answersOf({}));
    for (const path of refused) paths[path] = { status: 403, body: { kind: 'Status', code: 403, reason: 'Forbidden' } };
    await expect(read()).rejects.toThrow('discovery was answered 403 Forbidden');
  });

  test.each([{ kind: 'Status' }, {}, null, 'text', []])(
    'rejects when the answer is no discovery document: %j',
    async (body) => {
      const { paths, read } = scriptedDiscovery(answersOf({}));
      paths['/apis'] = { body };
      await expect(read()).rejects.toThrow('no discovery document');
    },
  );

  test('rejects when the cluster does not answer within 10 s', async () => {
    const { paths, clock, discovery } = scriptedDiscovery(answersOf({}));
    paths['/apis'] = 'silence';
    let outcome = 'pending';
    void discovery.read(new AbortController().signal).then(
      () => (outcome = 'read'),
      () => (outcome = 'failed'),
    );
    await clock.advance(9_999);
    expect(outcome).toBe('pending');
    await clock.advance(1);
    expect(outcome).toBe('failed');
  });
});

describe('aggregated discovery', () => {
  test('is asked for before the plain documents', async () => {
    const { requests, read } = scriptedDiscovery(aggregated({}));
    await read();
    expect(requests.map(({ method, path, purpose }) => `${method} ${path} ${purpose}`)).toEqual([
      'GET /api discovery',
      'GET /apis discovery',
    ]);
    expect(requests.map(({ accept }) => accept)).toEqual(
      Array(2).fill(
        'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json',
      ),
    );
  });

  test('is the same object while the cluster answers 304', async () => {
    const { paths, requests, read } = scriptedDiscovery(aggregated({ 'example.com': { v1: [WIDGET] } }));
    const first = await read();
    expect(await read()).toBe(first);
    expect(requests.map(({ ifNoneMatch }) => ifNoneMatch)).toEqual([undefined, undefined, '"core-1"', '"apis-1"']);
    Object.assign(paths, { '/apis': { etag: '"apis-2"', body: aggregatedList({ 'example.com': { v1: [GADGET] } }) } });
    expect(namesIn(await read())).toEqual(['pods.v1.', 'gadgets.v1.example.com']);
  });

  test('keeps what an API that is away is still said to have', async () => {
    const { paths, read } = scriptedDiscovery(aggregated({ 'example.com': { v1: [WIDGET] } }));
    await read();
    const item = { resource: 'gadgets', responseKind: { kind: 'Gadget' }, scope: 'Cluster', verbs: ['list'] };
    const versions = [{ version: 'v1', freshness: 'Stale', resources: [item] }];
    const body = { kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: 'example.com' }, versions }] };
    paths['/apis'] = { etag: '"apis-2"', body };
    const { kinds, awayGroups } = await read();
    expect(kinds).toMatchObject([pods, { resource: 'gadgets', singularName: 'gadget', shortNames: [] }]);
    expect([...awayGroups]).toEqual(['example.com']);
  });

  test('leaves out what only has subresources, and groups and versions without a name', async () => {
    const { paths, read } = scriptedDiscovery(aggregated({}));
    const resources = [
      { resource: 'services', scope: 'Namespaced', subresources: [{ subresource: 'proxy', verbs: ['get'] }] },
      { resource: 'things', responseKind: { kind: '' }, scope: 'Namespaced', verbs: [] },
    ];
    const good = { version: 'v1', resources: [{ resource: 'gadgets', responseKind: { kind: 'Gadget' } }] };
    const items = [
      { metadata: { name: 'example.com' }, versions: [{ version: 'v1', resources }] },
      { metadata: { name: '../x' }, versions: [good] },
      { metadata: { name: 'bad.version' }, versions: [{ ...good, version: 'v1/x' }, null] },
      null,
    ];
    paths['/apis'] = { body: { kind: 'APIGroupDiscoveryList', items } };
    expect(namesIn(await read())).toEqual(['pods.v1.']);
  });
});

describe('plain discovery', () => {
  const many = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`g${index}.io`, { v1: [{ ...WIDGET, resource: `widgets${index}` }] }]),
  );

  test('has at most 8 documents in flight, and their kinds in the order of the groups', async () => {
    const { seen, read } = scriptedDiscovery(plain(many));
    const { kinds } = await read();
    expect(kinds.map(({ resource }) => resource)).toEqual([
      'pods',
      ...Object.keys(many).map((_, index) => `widgets${index}`),
    ]);
    // Beside the eight, the core group's.
    expect(seen.mostInFlight).toBeLessThanOrEqual(9);
    expect(seen.mostInFlight).toBeGreaterThan(5);
  });

  test('calls an API away whose document does not come within 3 s, and goes on', async () => {
    const { paths, clock, read } = scriptedDiscovery(
      plain({ 'example.com': { v1: [WIDGET] }, 'other.org': { v1: [GADGET] } }),
    );
    paths['/apis/example.com/v1'] = 'silence';
    await clock.advance(60_000);
    const { awayGroups, kinds } = await read(3_010);
    expect([...awayGroups]).toEqual(['example.com']);
    expect(kinds.map(({ resource }) => resource)).toEqual(['pods', 'gadgets']);
  });

  test('KD-01 is read whole although the list of groups has an ETag: a group may have new kinds all the same', async () => {
    const { paths, read } = scriptedDiscovery(plain({ 'example.com': { v1: [WIDGET] } }));
    paths['/apis'] = { ...(paths['/apis'] as object), etag: '"groups"' };
    await read();
    paths['/apis/example.com/v1'] = plain({ 'example.com': { v1: [GADGET] } })['/apis/example.com/v1'] ?? {};
    expect(namesIn(await read())).toEqual(['pods.v1.', 'gadgets.v1.example.com']);
  });

  test('leaves out a group version whose document is gone', async () => {
    const { paths, read } = scriptedDiscovery(plain({ 'example.com': { v1: [WIDGET] } }));
    await read();
    paths['/apis/example.com/v1'] = { status: 404 };
    const { kinds, awayGroups } = await read();
    expect([kinds.length, awayGroups.size]).toEqual([1, 0]);
  });

  test.each([
    ['a document of another kind', { body: { kind: 'Status' } }],
    ['no JSON', {}],
  ])('calls an API away that answers %s', async (_what, answer) => {
    const { paths, read } = scriptedDiscovery(plain({ 'example.com': { v1: [WIDGET] } }));
    paths['/apis/example.com/v1'] = answer;
    expect([...(await read()).awayGroups]).toEqual(['example.com']);
  });

  test('rejects when the core group does not answer, or the connection breaks', async () => {
    const { paths, clock, read } = scriptedDiscovery(plain({ 'example.com': { v1: [WIDGET] } }));
    paths['/api/v1'] = { status: 503 };
    await expect(read()).rejects.toThrow('the core group does not answer');
    Object.assign(paths, plain({ 'example.com': { v1: [WIDGET] } }), { '/apis/example.com/v1': new Error('reset') });
    await clock.advance(60_000);
    await expect(read()).rejects.toThrow('reset');
  });

  test('follows a server that learns aggregated discovery', async () => {
    const groups = { 'example.com': { v1: [WIDGET] } };
    const { paths, requests, read } = scriptedDiscovery(plain(groups));
    const before = await read();
    Object.assign(paths, aggregated(groups));
    requests.length = 0;
    expect(await read()).toEqual(before);
    expect(requests.length).toBe(2);
  });

  test('leaves out groups and versions whose names cannot be parts of a path', async () => {
    const { paths, requests, read } = scriptedDiscovery(plain({}));
    const groups = [
      { name: '../x', versions: [{ version: 'v1' }] },
      { name: '', versions: [{ version: 'v1' }] },
      { name: 'example.com', versions: [{ version: 'v1/../..' }, null], preferredVersion: null },
      null,
    ];
    paths['/apis'] = { body: { kind: 'APIGroupList', groups } };
    await read();
    expect(requests.map(({ path }) => path).sort()).toEqual(['/api', '/api/v1', '/apis']);
  });
});
