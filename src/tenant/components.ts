import type { SliceOwn } from '../kinds/words/slice-words.ts';
import { isSystemNamespace } from '../kinds/words/system-namespaces.ts';
import type { Entry } from '../resources/entries/entry.ts';

/** A Service of the system, with how many of the pods behind it are ready. The members are those of 3.4. */
export interface Component {
  readonly name: string;
  readonly namespace: string;
  readonly selfLink: string;
  readonly startedAt: string;
  readonly totalBackends: number;
  readonly healthyBackends: number;
}

interface Gathered {
  readonly namespace: string;
  readonly name: string;
  startedAt: number;
  readonly ready: Set<string>;
  readonly all: Set<string>;
}

/**
 * The components in the namespaces that the caller may look into, by namespace and name. A pod with an address of each family is in two
 * slices of its Service, and counts once.
 */
export function componentsOf(slices: readonly Entry[], mayLookInto: ReadonlySet<string>): readonly Component[] {
  const gathered = new Map<string, Gathered>();
  for (const { namespace, createdAt, own } of slices) {
    const slice = own as SliceOwn | undefined;
    if (!slice || !mayLookInto.has(namespace)) continue;
    const key = `${namespace}/${slice.service}`;
    const known = gathered.get(key) ?? begin(namespace, slice.service, createdAt);
    gathered.set(key, known);
    known.startedAt = Math.min(known.startedAt, createdAt);
    for (const pod of slice.ready) known.ready.add(pod);
    for (const pod of [...slice.ready, ...slice.notReady]) known.all.add(pod);
  }
  return [...gathered.keys()].sort().map((key) => toComponent(gathered.get(key) as Gathered));
}

/** The namespaces of the system among these. */
export const systemNamespacesIn = (names: readonly string[], platform: string): readonly string[] =>
  names.filter((name) => isSystemNamespace(name, platform));

const begin = (namespace: string, name: string, startedAt: number): Gathered => ({
  ...{ namespace, name, startedAt },
  ready: new Set(),
  all: new Set(),
});

const toComponent = ({ namespace, name, startedAt, ready, all }: Gathered): Component => ({
  name,
  namespace,
  selfLink: `/api/v1/namespaces/${namespace}/services/${name}`,
  startedAt: Number.isFinite(startedAt) ? new Date(startedAt).toISOString().replace('.000Z', 'Z') : '',
  totalBackends: all.size,
  healthyBackends: ready.size,
});
