/** How much the bench of kinds measures. Each may be made smaller by a variable of the environment. */
export interface KindSizes {
  /** Pods of 4 kB beside kube-apiserver: `KINDS_PODS`. */
  readonly pods: number;
  /** Pods of 1 kB in `namespaces`, of which a caller may see `seen`: `KINDS_MANY`, `KINDS_NAMESPACES`, `KINDS_SEEN`. */
  readonly many: number;
  readonly namespaces: number;
  readonly seen: number;
  /** Objects of 40 kinds in use at once: `KINDS_OBJECTS`. */
  readonly objects: number;
  /** Objects of 40 kinds that are searched: `KINDS_SEARCHED`. */
  readonly searched: number;
}

export function sizesFrom(environment: Readonly<Record<string, string | undefined>>): KindSizes {
  const size = (name: string, usual: number): number => Number(environment[name] || usual);
  return {
    pods: size('KINDS_PODS', 20_000),
    many: size('KINDS_MANY', 150_000),
    namespaces: size('KINDS_NAMESPACES', 10_000),
    seen: size('KINDS_SEEN', 3_000),
    objects: size('KINDS_OBJECTS', 50_000),
    searched: size('KINDS_SEARCHED', 200_000),
  };
}
