/** The example in the comment above an exported interface or type; `undefined` when there is none. */
export function exampleOf(type: string, source: string): string | undefined {
  const declared = new RegExp(String.raw`/\*\*((?:(?!\*/).)*)\*/\nexport (?:interface|type) ${type}\b`, 's');
  const [, comment = ''] = declared.exec(source) ?? [];
  const text = comment.replaceAll(/^[ \t]*\* ?/gm, '');
  return /@example\n```ts\n(.*?)\n```\s*$/s.exec(text)?.[1];
}

/** The text of a module after its imports. */
export const behindImports = (source: string): string => source.replaceAll(/^import [^;]*;\n/gm, '').trim();
