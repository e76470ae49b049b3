/** A map of settings, as in a file. */
export type Tree = { readonly [name: string]: unknown };

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges `over` into a copy of `base`: maps are merged at every depth, and everything else is replaced. */
export function mergeDeep(base: Tree, over: Tree): Tree {
  const merged = new Map<string, unknown>(Object.entries(base));
  for (const [name, value] of Object.entries(over)) {
    const below = merged.get(name);
    merged.set(name, isTree(below) && isTree(value) ? mergeDeep(below, value) : value);
  }
  return Object.fromEntries(merged);
}
