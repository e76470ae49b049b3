/** How much the bench of the page measures. Each may be made smaller by a variable of the environment. */
export interface PageSizes {
  /** How many nodes there are, of 12 kB each: `PAGE_NODES`. */
  readonly nodes: number;
  /** `PAGE_PODS`. There are as many on each node, so it is rounded to a multiple of the nodes. */
  readonly pods: number;
  /** How many nodes, and how many pods, change each second: `PAGE_CHANGES`. */
  readonly changes: number;
  /** How long the tab stays open while the cluster changes, half of it at each table: `PAGE_MINUTES`. */
  readonly minutes: number;
  /** Pages that are open at once: `PAGE_OPEN`. */
  readonly open: number;
}

export function pageSizes(environment: Readonly<Record<string, string | undefined>>): PageSizes {
  const size = (name: string, usual: number): number => Number(environment[name] || usual);
  return {
    nodes: size('PAGE_NODES', 15_000),
    pods: size('PAGE_PODS', 30_000),
    changes: size('PAGE_CHANGES', 50),
    minutes: size('PAGE_MINUTES', 1),
    open: size('PAGE_OPEN', 200),
  };
}
