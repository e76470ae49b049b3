import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { Watcher } from '../support/watcher.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/namespaces';

interface NamespaceList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly phase: string };
  }[];
  readonly totalItems: number;
}

let cluster: ControlPlane;
let gatehouse: Gatehouse;
let token: string;

beforeAll(async () => {
  cluster = await startControlPlane();
  gatehouse = await startGatehouse(cluster, { ada: ['operators'] });
  await cluster.kubectl([
    ...['create', 'clusterrolebinding', 'operators'],
    ...['--clusterrole=gatehouse-system:gatehouse:administrators', '--group=operators'],
  ]);
  token = await gatehouse.signIn('ada');
  await eventually(list, ({ items }) => items?.length > 0); // RBAC learns of a binding a moment later
});
afterAll(async () => {
  await gatehouse?.stop();
  await cluster?.stop();
});

const list = async (query = ''): Promise<NamespaceList> =>
  (await gatehouse.get(LIST + query, token)).body as NamespaceList;
const namesOf = ({ items }: NamespaceList): string[] => items.map(({ metadata }) => metadata.name);

/** The status of the list for who has this tag, and the tag of now. */
async function tagged(tag: string): Promise<[status: number, tag: string]> {
  const headers = { authorization: `Bearer ${token}`, 'if-none-match': tag };
  const answer = await fetch(gatehouse.url + LIST, { headers });
  await answer.arrayBuffer();
  return [answer.status, answer.headers.get('etag') ?? ''];
}

test('the namespaces of a real cluster are listed, selected, paged, given, tagged and watched as it has them', async () => {
  const url = `${gatehouse.url}${LIST}?watch=true&labelSelector=team`;
  const watcher = await Watcher.open(url, { authorization: `Bearer ${token}` });
  const told = (last: string): Promise<string[]> =>
    eventually(
      async () => watcher.story,
      (story) => story.at(-1) === last,
    );
  try {
    expect(await told('BOOKMARK')).toEqual(['BOOKMARK']);
    const [, before] = await tagged('');
    expect((await tagged(before))[0]).toBe(304);
    for (const name of ['red', 'blue']) {
      await cluster.kubectl(['create', 'namespace', name]);
      await cluster.kubectl(['label', 'namespace', name, 'team=one']);
      await told(`ADDED ${name}`);
    }
    expect((await tagged(before))[0]).toBe(200);
    const own = JSON.parse(await cluster.kubectl(['get', 'namespaces', '-o', 'json'])) as NamespaceList;
    expect(namesOf(await list('?sortBy=name&ascending=true'))).toEqual(namesOf(own).sort());
    expect(namesOf(await list('?labelSelector=team%3Done&sortBy=name'))).toEqual(['red', 'blue']);
    const page = await list('?labelSelector=team&sortBy=name&limit=1&page=2');
    expect([namesOf(page), page.totalItems]).toEqual([['blue'], 2]);
    expect((await list('?status=Terminating')).totalItems).toBe(0);
    expect((await gatehouse.get(`${LIST}/red`, token)).body).toMatchObject({
      ...{ kind: 'Namespace', apiVersion: 'v1', status: { phase: 'Active' } },
      metadata: { name: 'red', selfLink: '/api/v1/namespaces/red' },
    });
    await cluster.kubectl(['label', 'namespace', 'blue', 'team-']);
    expect(await told('DELETED blue')).toEqual(['BOOKMARK', 'ADDED red', 'ADDED blue', 'DELETED blue']);
  } finally {
    watcher.close();
  }
});
