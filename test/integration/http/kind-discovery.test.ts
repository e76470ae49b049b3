import { describe, expect, test } from 'vitest';
import type { ListableKinds } from '../../../src/http/routes/kind-discovery.ts';
import type { NamedKind } from '../../../src/kinds/catalog/kind-answer.ts';
import { serviceUnavailable } from '../../../src/status-error.ts';
import { atEnd } from '../../support/at-end.ts';
import { startApp } from './app-under-test.ts';

const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';
const SERVED = { verbs: ['get', 'list', 'watch'] };
const nodes = { ...SERVED, name: 'nodes', singularName: 'node', namespaced: false, kind: 'Node', shortNames: ['no'] };
const namespaces = {
  ...{
    ...SERVED,
    name: 'namespaces',
    singularName: 'namespace',
    namespaced: false,
    kind: 'Namespace',
    shortNames: ['ns'],
  },
};

const kindOf = (resource: string, kind: string, more: Partial<NamedKind> = {}): NamedKind => ({
  ...{ name: resource, resource, kind, group: '', version: 'v1', singularName: kind.toLowerCase(), shortNames: [] },
  ...{ namespaced: true, verbs: ['create', 'list', 'watch'] },
  ...more,
});

async function appWith(listableKinds: ListableKinds) {
  const app = await startApp({ listableKinds });
  atEnd(() => app.stop());
  const read = async (etag = '') => {
    const answer = await app.get(ROOT, { headers: etag ? { 'If-None-Match': etag } : {} });
    const document = answer.status === 200 ? ((await answer.json()) as { resources: object[] }) : undefined;
    return { status: answer.status, etag: answer.headers.get('etag') ?? '', resources: document?.resources, document };
  };
  return { app, read };
}

describe('the discovery document of the list API', () => {
  test('KD-01 has every kind that can be listed now, with its own group and version and the verbs that are served here', async () => {
    const { read } = await appWith({
      kinds: async () => [
        kindOf('nodes', 'Node', { namespaced: false, shortNames: ['no'] }),
        kindOf('pods', 'Pod', { shortNames: ['po'] }),
        kindOf('nodes', 'Node', { group: 'longhorn.io', version: 'v1beta2', name: 'nodes.longhorn.io' }),
      ],
    });
    expect((await read()).document).toEqual({
      ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'resources.gatehouse.io/v1alpha3' },
      resources: [
        nodes,
        namespaces,
        {
          ...{ ...SERVED, name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', shortNames: ['po'] },
          ...{ group: '', version: 'v1' },
        },
        {
          ...{ ...SERVED, name: 'nodes.longhorn.io', singularName: 'node', namespaced: true, kind: 'Node' },
          ...{ shortNames: [], group: 'longhorn.io', version: 'v1beta2' },
        },
      ],
    });
  });

  test('KD-01 is 304 while the kinds are the same, and changes with them', async () => {
    let kinds = [kindOf('pods', 'Pod')];
    const { read } = await appWith({ kinds: async () => kinds });
    const { etag } = await read();
    expect((await read(etag)).status).toBe(304);
    kinds = [...kinds, kindOf('services', 'Service')];
    const changed = await read(etag);
    expect([changed.status, changed.resources?.length]).toEqual([200, 4]);
    expect(changed.etag).not.toBe(etag);
  });

  test('KD-01 has nodes and namespaces alone while the kinds of the cluster are not known', async () => {
    let isKnown = false;
    const { read } = await appWith({
      kinds: async () => {
        if (!isKnown) throw serviceUnavailable('the kinds of the cluster are not known yet', 5);
        return [kindOf('pods', 'Pod')];
      },
    });
    expect((await read()).resources).toEqual([nodes, namespaces]);
    isKnown = true;
    expect((await read()).resources?.length).toBe(3);
  });

  test('is 500 when the kinds fail for another reason, which is a bug', async () => {
    const { read } = await appWith({
      kinds: async () => {
        throw new Error('a bug');
      },
    });
    expect((await read()).status).toBe(500);
  });

  test('KD-01 of the other groups has no kinds of the cluster', async () => {
    const { app } = await appWith({ kinds: () => expect.unreachable() });
    for (const path of ['/kapis', '/kapis/resources.gatehouse.io', '/kapis/iam.gatehouse.io/v1alpha2'])
      expect([path, (await app.get(path)).status]).toEqual([path, 200]);
  });
});
