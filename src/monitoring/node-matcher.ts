/**
 * A matcher of the label `node` for these names, which begins with a comma; empty for no names. The names stand in a regular expression
 * (RE2) inside a text of PromQL, so what has a meaning in either is escaped.
 */
export function nodeMatcher(nodes: readonly string[]): string {
  if (nodes.length === 0) return '';
  return `,node=~${JSON.stringify(nodes.map(literally).join('|'))}`;
}

const literally = (name: string): string => name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
