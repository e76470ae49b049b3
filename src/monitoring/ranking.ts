import type { Series } from './prometheus.ts';
import type { Ranking } from './question.ts';

/** A page of nodes in their order, and where it is. */
export interface RankedPage {
  readonly nodes: readonly string[];
  readonly page: number;
  readonly totalPages: number;
  readonly totalItems: number;
}

/**
 * Orders the nodes by their values, nodes with the same value by name, as 3.4 does. Nodes without a value come last in either order.
 * `all`: one series for each node.
 */
export function rankNodes(all: readonly Series[], values: readonly Series[], ranking: Ranking): RankedPage {
  const { order, page, limit } = ranking;
  const valuesByNode = new Map(values.map(({ metric, value }) => [metric['node'] ?? '', Number(value?.[1])]));
  const names = new Set([...valuesByNode.keys(), ...all.map(({ metric }) => metric['node'] ?? '')]);
  names.delete('');
  const sign = order === 'asc' ? 1 : -1;
  const ranked = [...names].sort((a, b) => {
    const [one, other] = [valuesByNode.get(a), valuesByNode.get(b)];
    if (one === other) return a < b ? -1 : 1;
    if (one === undefined || other === undefined) return one === undefined ? 1 : -1;
    return sign * (one - other);
  });
  return {
    nodes: ranked.slice((page - 1) * limit, page * limit),
    page,
    totalPages: Math.ceil(ranked.length / limit),
    totalItems: ranked.length,
  };
}

/**
 * The series of these nodes, in this order. A node without a series has an element without a value, because the console joins the
 * metrics of a ranking by their places.
 */
export function inRank(series: readonly Series[], nodes: readonly string[]): readonly Series[] {
  const of = new Map(series.map((one) => [one.metric['node'], one]));
  return nodes.map((node) => of.get(node) ?? { metric: { node } });
}
