import { createKindCatalog, type KindCatalogParts } from '../../../../src/kinds/catalog/kind-catalog.ts';
import type { ClusterKind } from '../../../../src/kubernetes/discovery/cluster-kind.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A namespaced kind with all verbs. `name` is its plural, with its group after a dot unless that is the core group. */
export function kindOf(name: string, change: Partial<ClusterKind> = {}): ClusterKind {
  const [resource = '', ...group] = name.split('.');
  return {
    ...{ group: group.join('.'), version: 'v1', resource, kind: resource, singularName: resource, shortNames: [] },
    ...{ namespaced: true, verbs: ['get', 'list', 'watch'] },
    ...change,
  };
}

export const kindsOf = (...names: readonly string[]): readonly ClusterKind[] => names.map((name) => kindOf(name));

type Rules = Partial<KindCatalogParts['rules']>;

/** A catalog of a cluster whose kinds a test may change, make unreachable, or hold back. */
export function catalogOf(
  kinds: readonly ClusterKind[],
  rules: Rules = {},
  { platform = 'kubesphere', runs = true }: { readonly platform?: string; readonly runs?: boolean } = {},
) {
  const clock = new FakeClock();
  const lines: { readonly level: string; readonly message: string; readonly members: object }[] = [];
  const log = (level: string) => (members: object, message: string) => void lines.push({ level, message, members });
  const logger = { info: log('info'), warn: log('warn'), debug: log('debug') } as unknown as KindCatalogParts['logger'];
  const cluster = {
    kinds,
    awayGroups: new Set<string>(),
    failure: undefined as Error | undefined,
    reads: 0,
    /** How long a read takes; it ends early when it is given up. */
    readMs: 0,
  };
  let last: { readonly kinds: readonly ClusterKind[]; readonly awayGroups: ReadonlySet<string> } | undefined;
  const discovery: KindCatalogParts['discovery'] = {
    async read(signal) {
      cluster.reads++;
      if (cluster.readMs > 0) await clock.sleep(cluster.readMs, signal);
      if (signal.aborted) throw new Error('aborted');
      if (cluster.failure) throw cluster.failure;
      if (last?.kinds !== cluster.kinds || last.awayGroups !== cluster.awayGroups)
        last = { kinds: cluster.kinds, awayGroups: cluster.awayGroups };
      return last;
    },
  };
  const catalog = createKindCatalog({
    ...{ platform, discovery, clock, logger },
    rules: { isAllowed: () => true, secrets: 'none', events: false, ...rules },
  });
  const ending = new AbortController();
  const running = runs ? catalog.run(ending.signal) : undefined;
  const stop = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  return { catalog, cluster, clock, lines, stop };
}
