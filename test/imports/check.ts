import { circlesOfFiles, circlesOfFolders } from './circles.ts';
import { covers, mostExact } from './names.ts';
import type { Import, Module } from './read.ts';
import { tooLarge } from './sizes.ts';
import type { ImportTable } from './table.ts';

/** What the table forbids of these modules, a sentence each. */
export function findingsIn(modules: readonly Module[], table: ImportTable): string[] {
  const forbidden = modules.flatMap((module) =>
    rowOf(module.file, table) ? notAllowed(module, table) : [noRow(module)],
  );
  const isStrict = ({ file }: Pick<Module, 'file'>): boolean => isIn(file, table.strict) && !isIn(file, table.unsplit);
  const ofFiles = circlesOfFiles(modules, (file) => isStrict({ file }));
  const circles = [...ofFiles, ...table.oneWay.flatMap((folder) => circlesOfFolders(modules, folder))];
  const inCircles = circles.map((circle) => `imports go in a circle: ${circle.join(', ')}`);
  return [...forbidden, ...inCircles, ...tooLarge(modules.filter(isStrict))];
}

/** The names of the table that mean no file: something moved, and its line did not. */
export function staleNames(files: readonly string[], { base, ours, libraries, ...more }: ImportTable): string[] {
  const targets = [ours, libraries].flatMap((rows) => Object.values(rows).flat());
  const names = new Set([...base, ...Object.keys(ours), ...targets, ...more.oneWay, ...more.strict, ...more.unsplit]);
  return [...names].filter((name) => !files.some((file) => covers(name, file)));
}

const isIn = (file: string, names: readonly string[]): boolean => names.some((name) => covers(name, file));

const noRow = ({ file }: Module): string => `${file} is in no row of the table`;

const rowOf = (file: string, { base, ours }: ImportTable): string | undefined =>
  mostExact([...base, ...Object.keys(ours)], file);

function notAllowed({ file, imports }: Module, table: ImportTable): string[] {
  const reasons = imports.map(
    (one) => [one, one.isOurs ? foreign(file, one, table) : homeless(file, one, table)] as const,
  );
  return reasons.flatMap(([{ line, target }, reason]) =>
    reason ? [`${file}:${line} imports ${target ?? 'what only the running program knows'}: ${reason}`] : [],
  );
}

/** Why a file may not import another. */
function foreign(file: string, { target = '' }: Import, table: ImportTable): string | undefined {
  const row = rowOf(file, table) ?? '';
  const allowed = table.ours[row] ?? [];
  if ([row, ...allowed, ...table.base].some((name) => covers(name, target))) return;
  return `the row ${row} allows ${[...allowed, 'the base'].join(', ')}`;
}

/** Why a file may not import a library. */
function homeless(file: string, { target, isType }: Import, { libraries }: ImportTable): string | undefined {
  const names = [String(target), '*', ...(isType ? [`type ${target}`] : [])];
  if (target && names.some((name) => libraries[name]?.some((home) => covers(home, file)))) return;
  const rows = Object.entries(libraries).filter(([name]) => name === target || name === `type ${target}`);
  if (rows.length === 0) return 'no row allows it';
  return rows.map(([name, homes]) => `the row ${name} allows it in ${homes.join(', ')}`).join('; ');
}
