/** Exported types by their name, each with the files that declare it. */
export function exportedTypes(sources: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [file, source] of sources) {
    for (const [, name = ''] of source.matchAll(/^export (?:abstract )?(?:interface|type|class|enum) (\w+)/gm))
      found.set(name, [...(found.get(name) ?? []), file]);
  }
  return found;
}

/** One line for each name that two exported types have. */
export const doubledTypeNames = (sources: ReadonlyMap<string, string>): string[] =>
  [...exportedTypes(sources)]
    .filter(([, files]) => files.length > 1)
    .map(([name, files]) => `${name}: ${files.join(', ')}`);
