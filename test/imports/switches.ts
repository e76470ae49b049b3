/** The switches of a source, as `file: discriminant`, that do not end in `satisfies never`. Another branch could catch a word that is new. */
export function openSwitches(sources: ReadonlyMap<string, string>): string[] {
  return [...sources].flatMap(([file, source]) =>
    [...source.matchAll(/^( *)switch \((.+)\) \{\n([\s\S]*?)\n\1\}$/gm)]
      .filter(([, , , body = '']) => !/\bdefault:\n? +.*satisfies never;$/.test(body))
      .map(([, , discriminant]) => `${file}: ${discriminant}`),
  );
}
