/** A YAML text as a tree: a scalar as it is written, a list, or members, two of which may have the same name. */
export type Tree = string | { readonly list: readonly Tree[] } | { readonly map: readonly Member[] };
export type Member = readonly [name: string, value: Tree];

/** The layout of a text. */
export type Layout = 'block' | 'flow' | 'crlf';

export function writeYaml(tree: Tree, layout: Layout): string {
  const text = layout === 'flow' ? `${flow(tree)}\n` : block(tree, '').replace(/^\n/, '');
  return layout === 'crlf' ? text.replaceAll('\n', '\r\n') : text;
}

function flow(tree: Tree): string {
  if (typeof tree === 'string') return tree;
  if ('list' in tree) return `[${tree.list.map(flow).join(', ')}]`;
  return `{${tree.map.map(([name, value]) => `${name}: ${flow(value)}`).join(', ')}}`;
}

function block(tree: Tree, indent: string): string {
  if (typeof tree === 'string') return ` ${tree}\n`;
  if ('list' in tree) {
    if (tree.list.length === 0) return ' []\n';
    return `\n${tree.list.map((item) => `${indent}-${block(item, `${indent}  `)}`).join('')}`;
  }
  if (tree.map.length === 0) return ' {}\n';
  return `\n${tree.map.map(([name, value]) => `${indent}${name}:${block(value, `${indent}  `)}`).join('')}`;
}
