import type { PermittedScope } from '../../../src/authorization/permitted-scope.ts';
import type { ServedKinds } from '../../../src/http/kinds/kind-routes.ts';
import { createKindValue } from '../../../src/kinds/kind-value.ts';
import type { HeldKind } from '../../../src/kinds/mirrors/held-kind.ts';
import { wordsOf } from '../../../src/kinds/words/words-of.ts';
import type { ClusterKind } from '../../../src/kubernetes/discovery/cluster-kind.ts';
import type { Representation } from '../../../src/resources/bytes/representation.ts';
import type { Kind } from '../../../src/resources/entries/kind.ts';

const kindOf = (resource: string, group: string, namespaced: boolean): ClusterKind => ({
  ...{ group, version: 'v1', resource, namespaced, kind: resource.replace(/s$/, ''), singularName: '' },
  ...{ shortNames: [], verbs: ['get', 'list', 'watch'] },
});

const KINDS: ReadonlyMap<string, ClusterKind> = new Map([
  ['pods', kindOf('pods', '', true)],
  ['deployments.apps', kindOf('deployments', 'apps', true)],
  ['persistentvolumes', kindOf('persistentvolumes', '', false)],
]);

const WORDS_CONTEXT = { platform: 'gatehouse', selectorOf: () => undefined, annotationsOf: () => undefined };

/** A kind as queries about it are read. */
export const kindValueOf = (kind: Pick<ClusterKind, 'group' | 'resource'>): Kind =>
  createKindValue(
    { ...kindOf(kind.resource, kind.group, true) },
    { platform: 'gatehouse', words: wordsOf(kind, WORDS_CONTEXT), way: 'whole', isSecret: false },
  );

const NOWHERE: PermittedScope = { id: '0123456789abcdef', names: new Set(), has: () => false };

/** Three kinds, held whole. `list` and `object` are what every one of them answers. */
export function kindsUnderTest(list: Representation, object: Representation): ServedKinds {
  const lister = { list: () => list, get: () => object, staleSeconds: () => undefined };
  const held = (clusterKind: Pick<ClusterKind, 'group' | 'resource'>) =>
    ({ clusterKind, way: 'whole', lister }) as unknown as HeldKind;
  return {
    catalog: {
      resolve: (name) => {
        const kind = KINDS.get(name);
        return kind ? { kind } : { unknown: true };
      },
      kinds: async () => [...KINDS].map(([name, kind]) => ({ name, ...kind })),
      find: () => undefined,
    },
    mirrors: { hold: held, held } as unknown as ServedKinds['mirrors'],
    scopes: { scopeOf: () => NOWHERE },
    objects: {} as ServedKinds['objects'],
    annotations: () => undefined,
    kindValueOf,
  };
}
