import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { serviceUnavailable } from '../../../src/status-error.ts';
import { NAMESPACES, nameOf, type PermittedUnderTest, podOf, startPermitted } from './permitted-under-test.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';

interface ListBody {
  readonly kind: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly {
    readonly kind?: string;
    readonly metadata: { name: string; namespace?: string };
    readonly spec?: object;
  }[];
  readonly rows: readonly { readonly cells: unknown[]; readonly object: { metadata: { namespace: string } } }[];
  readonly columnDefinitions: readonly { readonly name: string }[];
}

let stand: PermittedUnderTest;
beforeAll(async () => {
  stand = await startPermitted();
});
afterAll(() => stand.stop());
afterEach(() => {
  const { rights, cluster, app } = stand;
  rights.revokeAll();
  rights.isEverywhere = false;
  rights.failure = undefined;
  rights.withheld.clear();
  rights.asked.length = 0;
  cluster.faults.clear();
  cluster.evidence.reset();
  app.events.length = 0;
  stand.lacking.length = 0;
});

const FEW = [nameOf(7), nameOf(500)];
const MANY = Array.from({ length: 300 }, (_, index) => nameOf(index * 3));

async function list(path: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await stand.app.get(path, { headers });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) as ListBody };
}

const placesOf = ({ items }: ListBody): string[] =>
  items.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
const podsIn = (names: readonly string[]): string[] => names.flatMap((name) => [`${name}/pod`, `${name}/pod-b`]);

/** All pages of a list, each as the client gets it. */
async function pagesOf(path: string, from = ''): Promise<ListBody[]> {
  const pages: ListBody[] = [];
  let token: string | undefined = from;
  while (token !== undefined) {
    const { status, body } = await list(`${path}&continue=${encodeURIComponent(token)}`);
    expect(status).toBe(200);
    pages.push(body);
    token = body.metadata.continue;
  }
  return pages;
}

const requestsFor = (plural: string): string[] =>
  stand.cluster.evidence.requests.filter(({ target }) => target?.kind.plural === plural).map(({ url }) => url);

describe('who gets a permitted list', () => {
  test('KD-30 a caller with the right over the whole cluster gets the bytes of the cluster, its own compression and no warning', async () => {
    stand.rights.isEverywhere = true;
    const { status, headers, body } = await list('/api/v1/pods?limit=3');
    expect([status, body.kind]).toEqual([403, 'Status']); // the cluster's own answer: Alice's right is only the authorizer's here
    expect(headers.get('warning')).toBeNull();
    expect(stand.rights.asked).toEqual([]);
    expect(requestsFor('pods')).toEqual(['/api/v1/pods?limit=3']);
  });

  test('KD-30 a caller who gains that right between two pages is told to list again', async () => {
    stand.rights.grant(...FEW);
    const { body } = await list('/api/v1/pods?limit=1');
    stand.rights.isEverywhere = true;
    const { status, body: refusal } = await list(`/api/v1/pods?limit=1&continue=${body.metadata.continue}`);
    expect([status, refusal]).toMatchObject([410, { reason: 'Expired' }]);
  });

  test('a caller with the right in no namespace gets the 403 of the cluster', async () => {
    const { status, text } = await list('/api/v1/pods');
    expect(status).toBe(403);
    expect(text).toContain('pods is forbidden: User \\"alice\\" cannot list resource \\"pods\\"');
  });

  test('KD-36 Secrets, kinds that are denied, and kinds of the cluster are 403 from the cluster', async () => {
    stand.rights.grant(...FEW);
    for (const path of ['/api/v1/secrets', '/api/v1/events', '/api/v1/nodes']) {
      const { status } = await list(path);
      expect([path, status]).toEqual([path, 403]);
    }
    expect((await list('/apis/apps/v1/nothings')).status).toBe(404);
    expect(stand.rights.asked).toEqual([]);
  });

  test.each([
    ['DELETE', '/api/v1/pods'],
    ['POST', '/api/v1/pods'],
    ['GET', '/api/v1/watch/pods'],
    ['GET', '/api/v1/namespaces/ns-0001/pods'],
  ])('KD-35 %s %s is passed on', async (method, path) => {
    stand.rights.grant(...FEW);
    const { status } = await stand.app.get(path, { method });
    expect(status).toBeGreaterThanOrEqual(403);
    expect(stand.rights.asked).toEqual([]);
  });

  test('a list is never shorter because a decision is missing', async () => {
    stand.rights.grant(...FEW);
    stand.rights.failure = serviceUnavailable('authorization is not available', 5);
    expect(await list('/api/v1/pods')).toMatchObject({ status: 503 });
  });

  test('without the right of our own account, the cluster’s 403 is passed on, and the missing right is told', async () => {
    stand.rights.grant(...MANY);
    stand.cluster.faults.next({ verb: 'list', kind: 'pods' }, { status: 403 });
    const { status } = await list('/api/v1/pods');
    expect(status).toBe(403);
    expect(stand.lacking).toMatchObject([{ verb: 'list', group: '', resource: 'pods' }]);
  });
});

describe.each([
  { what: 'two namespaces, as the caller', names: FEW, way: 'as_caller' },
  { what: '300 of 1,000 namespaces, by our own account', names: MANY, way: 'as_ourselves' },
])('a list over $what', ({ names, way }) => {
  test('KD-31 has the objects as the cluster writes them, in its order', async () => {
    stand.rights.grant(...names);
    const { status, headers, body } = await list('/api/v1/pods');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(body).toMatchObject({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: { resourceVersion: expect.stringMatching(/^\d+$/) },
    });
    expect(placesOf(body)).toEqual(podsIn(names));
    const own = stand.cluster.objects.list('pods').find(({ metadata }) => metadata.namespace === names[0]);
    const { apiVersion: _, kind: __, ...item } = own as NonNullable<typeof own>;
    expect(body.items[0]).toEqual(item);
  });

  test('KD-31 has metadata alone, and a Table with the columns of the cluster', async () => {
    stand.rights.grant(...names);
    const metadata = await list('/api/v1/pods', { Accept: METADATA });
    expect(metadata.body.kind).toBe('PartialObjectMetadataList');
    expect(placesOf(metadata.body)).toEqual(podsIn(names));
    expect(metadata.body.items[0]?.spec).toBeUndefined();
    const { body: table } = await list('/api/v1/configmaps?includeObject=Metadata', { Accept: TABLE });
    expect(table.kind).toBe('Table');
    expect(table.columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Data', 'Age']);
    expect(table.rows.map(({ object }) => object.metadata.namespace)).toEqual(names);
    expect(table.rows[0]?.cells.slice(0, 2)).toEqual(['settings', 2]);
  });

  test('KD-31 a Table without objects is one with metadata, because a row without them has no namespace', async () => {
    stand.rights.grant(...names);
    const { body } = await list('/api/v1/configmaps?includeObject=None', { Accept: TABLE });
    expect(body.rows).toHaveLength(names.length);
  });

  test('KD-32 comes in pages of one version that together are the whole', async () => {
    stand.rights.grant(...names);
    const pages = await pagesOf('/api/v1/pods?limit=7');
    expect(pages.flatMap(placesOf)).toEqual(podsIn(names));
    expect(new Set(pages.map(({ metadata }) => metadata.resourceVersion)).size).toBe(1);
    for (const { items, metadata } of pages) {
      expect(items.length).toBeLessThanOrEqual(7);
      expect(metadata.remainingItemCount).toBeUndefined();
    }
  });

  test('KD-32 has one version although objects change while it is made', async () => {
    stand.rights.grant(...names);
    const first = await list('/api/v1/pods?limit=1');
    stand.cluster.objects.remove('pods', `${names.at(-1)}/pod-b`);
    const rest = await pagesOf('/api/v1/pods?limit=500', first.body.metadata.continue);
    expect(rest.flatMap(placesOf)).toContain(`${names.at(-1)}/pod-b`);
    stand.cluster.objects.create('pods', podOf(names.at(-1) as string, 'pod-b'));
  });

  test('KD-32 takes selectors', async () => {
    stand.rights.grant(...names);
    const { body } = await list('/api/v1/pods?labelSelector=app%3Dpod&fieldSelector=metadata.name%3Dpod');
    expect(placesOf(body)).toEqual(names.map((name) => `${name}/pod`));
  });

  test('KD-32 reads from the version that the client names, and not from a later one', async () => {
    stand.rights.grant(...names);
    const version = stand.cluster.objects.resourceVersion;
    stand.cluster.objects.patch('pods', `${names[0]}/pod`, { metadata: { labels: { late: 'yes' } } });
    const exact = `resourceVersion=${version}&resourceVersionMatch=Exact`;
    const { body } = await list(`/api/v1/pods?${exact}&labelSelector=late`);
    expect([body.metadata.resourceVersion, body.items]).toEqual([version, []]);
    stand.cluster.objects.patch('pods', `${names[0]}/pod`, { metadata: { labels: { late: null } } });
  });

  test('KD-32 a page after rights have changed is 410, and so is a token that we did not make', async () => {
    stand.rights.grant(...names);
    const { body } = await list('/api/v1/pods?limit=1');
    stand.rights.grant(nameOf(998));
    for (const token of [body.metadata.continue, 'abc', 'permitted.e30', 'permitted.%00'])
      expect(await list(`/api/v1/pods?limit=1&continue=${token}`)).toMatchObject({
        status: 410,
        body: { reason: 'Expired' },
      });
  });

  test('KD-32 the 410 of a version that the cluster has forgotten is passed on', async () => {
    stand.rights.grant(...names);
    const version = stand.cluster.objects.resourceVersion;
    stand.rights.grant(nameOf(998));
    stand.cluster.compact();
    const { status } = await list(`/api/v1/pods?resourceVersion=${version}&resourceVersionMatch=Exact`);
    expect(status).toBe(410);
  });

  test('KD-34 the first page says in a Warning over how many namespaces it is, and the audit trail has a word of its own', async () => {
    stand.rights.grant(...names);
    const first = await list('/api/v1/pods?limit=1');
    const text = `you see ${names.length} of the cluster's namespaces: gatehouse lists those in which you may list pods`;
    expect(first.headers.get('warning')).toBe(`299 - "${text}"`);
    const second = await list(`/api/v1/pods?limit=1&continue=${first.body.metadata.continue}`);
    expect(second.headers.get('warning')).toBeNull();
    await expect.poll(() => stand.app.events.length).toBe(2);
    const fields = { result: 'ok', verb: 'list', permitted: way, permittedNamespaces: names.length };
    expect(stand.app.events[0]).toMatchObject({ event: 'cluster_call', fields });
    expect(stand.app.events[0]?.fields['impersonatedUser']).toBe(way === 'as_caller' ? 'alice' : undefined);
    const labels = { verb: 'list', kind: 'permitted', code: '2xx' };
    expect(await stand.app.metric('gatehouse_gateway_requests_total', labels)).toBeGreaterThanOrEqual(2);
  });

  test('KD-31 a client that takes no JSON gets 406', async () => {
    stand.rights.grant(...names);
    expect(await list('/api/v1/pods', { Accept: 'application/vnd.kubernetes.protobuf' })).toMatchObject({
      status: 406,
    });
    const both = await list('/api/v1/pods', { Accept: 'application/vnd.kubernetes.protobuf,application/json' });
    expect([both.status, both.headers.get('content-type')]).toEqual([200, 'application/json']);
  });

  test.each([429, 500, 503])('a part that the cluster answers %i makes the whole list that answer', async (code) => {
    stand.rights.grant(...names);
    stand.cluster.faults.next({ verb: 'list', kind: 'pods', skip: 1 }, { status: code });
    expect(await list('/api/v1/pods')).toMatchObject({ status: code });
  });

  test('a limit that is no number is 400', async () => {
    stand.rights.grant(...names);
    expect(await list('/api/v1/pods?limit=many')).toMatchObject({ status: 400 });
  });
});

describe('how the cluster is asked', () => {
  test('KD-30 a list over few namespaces reads these alone, as the caller', async () => {
    stand.rights.grant(...FEW);
    await list('/api/v1/pods');
    expect(requestsFor('pods').map((url) => url.replace(/\?.*/, ''))).toEqual(
      FEW.map((name) => `/api/v1/namespaces/${name}/pods`),
    );
    const users = stand.cluster.evidence.requests
      .filter(({ target }) => target?.kind.plural === 'pods')
      .map(({ headers }) => headers['impersonate-user']);
    expect(users).toEqual(['alice', 'alice']);
  });

  test('a list over many namespaces reads the whole in pages, impersonating nobody', async () => {
    stand.rights.grant(...MANY);
    await list('/api/v1/pods');
    expect(requestsFor('pods')).toHaveLength((2 * NAMESPACES) / 500);
    for (const { target, headers } of stand.cluster.evidence.requests)
      if (target?.kind.plural === 'pods') expect(headers['impersonate-user']).toBeUndefined();
  });

  test('KD-32 small namespaces are read before their turn, and no page is longer than its limit', async () => {
    const names = MANY.slice(0, 20);
    stand.rights.grant(...names);
    const pages = await pagesOf('/api/v1/pods?limit=7');
    expect(pages.map(({ items }) => items.length)).toEqual([7, 7, 7, 7, 7, 5]);
    expect(pages.flatMap(placesOf)).toEqual(podsIn(names));
    stand.cluster.evidence.reset();
    const { body } = await list('/api/v1/pods?limit=500');
    expect(placesOf(body)).toEqual(podsIn(names));
    expect(requestsFor('pods')).toHaveLength(20);
  });

  test('a namespace that the cluster refuses is left out, and a watch from there on is 410', async () => {
    stand.rights.grant(...FEW);
    stand.cluster.faults.next({ verb: 'list', kind: 'pods', namespace: FEW[1] as string }, { status: 403 });
    const { status, body } = await list('/api/v1/pods');
    expect([status, placesOf(body)]).toEqual([200, podsIn(FEW.slice(0, 1))]);
    const watch = await list(`/api/v1/pods?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    expect(watch.status).toBe(410);
  });

  test('an answer that has begun is cut when a later part fails', async () => {
    stand.rights.grant(...Array.from({ length: NAMESPACES }, (_, index) => nameOf(index)));
    stand.cluster.faults.next({ verb: 'list', kind: 'pods', skip: 3 }, { status: 500 });
    const answer = await stand.app.get('/api/v1/pods');
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  test('our own account reads nothing for a user whom the cluster does not let us impersonate', async () => {
    stand.rights.grant(...MANY);
    await stand.clock.advance(60_000); // what was learnt about Alice counts no longer
    const message = 'users "alice" is forbidden: User "gatehouse" cannot impersonate resource "users" in API group ""';
    stand.cluster.faults.next({ when: ({ path }) => path === '/version' }, { status: 403, message });
    const { status, text } = await list('/api/v1/pods');
    expect([status, text]).toEqual([403, expect.stringContaining('may not call the cluster through this server')]);
    expect(requestsFor('pods')).toEqual([]);
  });

  test('our own account reads nothing for a user of the cluster itself', async () => {
    stand.rights.grant(...MANY);
    stand.app.bearers.set('mallory', {
      identity: { name: 'system:mallory', uid: 'u-9', groups: ['system:authenticated'], clientId: 'c', sid: 's' },
      cached: true,
    });
    const { status } = await list('/api/v1/pods', { Authorization: 'Bearer mallory' });
    expect(status).toBe(403);
    expect(requestsFor('pods')).toEqual([]);
  });
});

describe('namespaces', () => {
  test('KD-33 are those that the caller may get, and those in which the caller may list pods', async () => {
    stand.rights.grant(...FEW);
    const { status, headers, body } = await list('/api/v1/namespaces?limit=500');
    expect([status, body.kind]).toEqual([200, 'NamespaceList']);
    expect(body.items.map(({ metadata }) => metadata.name)).toEqual(FEW);
    const words = 'gatehouse lists those that you may get, or in which you may list pods';
    expect(headers.get('warning')).toBe(`299 - "you see 2 of the cluster's namespaces: ${words}"`);
    expect(stand.rights.asked).toMatchObject([
      { verb: 'get', resource: 'namespaces' },
      { verb: 'list', resource: 'pods' },
    ]);
  });

  test('KD-33 the right to either is enough', async () => {
    stand.rights.grant(...FEW);
    stand.rights.withheld.add('get');
    const { body } = await list('/api/v1/namespaces');
    expect(body.items).toHaveLength(2);
  });
});
