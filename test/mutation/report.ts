import { folderOf, type NumberedMutant } from './plan.ts';

/** The survivors by place, and the score of each folder. */
export function reportOf(mutants: readonly NumberedMutant[], killed: ReadonlyMap<number, string>): string {
  const survivors = mutants
    .filter(({ number }) => !killed.has(number))
    .map(
      ({ file, line, kind, was, becomes }) =>
        `${file}:${line} ${kind}: ${short(was)} -> ${short(becomes) || 'nothing'}`,
    );
  const folders = Map.groupBy(mutants, ({ file }) => folderOf(file));
  const scores = [...folders].map(([folder, own]) => {
    const dead = own.filter(({ number }) => killed.has(number)).length;
    return `${folder}: ${((100 * dead) / own.length).toFixed(1)} % (${dead} of ${own.length})`;
  });
  return [...survivors, ...scores, ''].join('\n');
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 97)}...` : line;
}
