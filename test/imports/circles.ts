import type { Module } from './read.ts';

/** Which file or folder imports which, with the import that proves it, in words. */
type Graph = Map<string, Map<string, string>>;

/** The circles of files, each as its imports in order. What types alone import is not loaded, and counts only where it is said to. */
export function circlesOfFiles(modules: readonly Module[], countsTypes: (file: string) => boolean): string[][] {
  const graph: Graph = new Map();
  for (const { file, imports } of modules) {
    const loaded = imports.filter(({ isOurs, isType }) => isOurs && (!isType || countsTypes(file)));
    graph.set(file, new Map(loaded.map(({ line, target = '' }) => [target, `${file}:${line} imports ${target}`])));
  }
  return circlesOf(graph);
}

/** The circles of the folders right below this one, types included. */
export function circlesOfFolders(modules: readonly Module[], parent: string): string[][] {
  const graph: Graph = new Map();
  for (const { file, imports } of modules) {
    for (const { line, target, isOurs } of imports) {
      const [from, to] = [file, target ?? ''].map((path) => childOf(parent, path));
      if (!isOurs || !from || !to || from === to) continue;
      const edges = graph.get(from) ?? new Map<string, string>();
      graph.set(from, edges.set(to, `${file}:${line} imports ${target}`));
    }
  }
  return circlesOf(graph);
}

/** The folder right below `parent` in which this file is. */
function childOf(parent: string, file: string): string | undefined {
  const [name, ...rest] = file.startsWith(`${parent}/`) ? file.slice(parent.length + 1).split('/') : [];
  return rest.length > 0 ? name : undefined;
}

/** A circle for each edge that leads back to where a walk came through: at least one if there is any. */
function circlesOf(graph: Graph): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const walk = (node: string, trail: readonly string[], steps: readonly string[]): void => {
    const back = trail.indexOf(node);
    if (back >= 0) circles.push(steps.slice(back));
    if (back >= 0 || done.has(node)) return;
    for (const [next, step] of graph.get(node) ?? []) walk(next, [...trail, node], [...steps, step]);
    done.add(node);
  };
  for (const node of graph.keys()) walk(node, [], []);
  return circles;
}
