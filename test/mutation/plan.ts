import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type Mutant, mutationsOf } from './mutants.ts';
import { withSwitches } from './switches.ts';

export const ROOT = resolve(import.meta.dirname, '..', '..');
const FOLDERS = [
  ...['src/resources', 'src/nodes', 'src/kubernetes', 'src/oauth', 'src/http', 'src/gateway'],
  ...['src/accounts', 'src/users', 'src/authentication', 'src/authorization', 'src/documents'],
];

export interface NumberedMutant extends Mutant {
  readonly number: number;
  /** From the root of the repository. */
  readonly file: string;
}

export interface Plan {
  /** Those to be tried. */
  readonly mutants: readonly NumberedMutant[];
  /** Of all files, by absolute path: their source with a switch for every mutant. */
  readonly switched: ReadonlyMap<string, string>;
}

interface Choice {
  /** Files and folders; none: those that are held to a score. */
  readonly names: readonly string[];
  /** Only files that differ from this commit. */
  readonly since: string | undefined;
  /** At most so many mutants of each folder of `src`, spread evenly over its files. */
  readonly sample: number | undefined;
  /** A sample begins so many mutants later: it is another one, unless that is a whole step from one of its mutants to the next. */
  readonly offset: number;
}

export function makePlan({ names, since, sample, offset }: Choice): Plan {
  const switched = new Map<string, string>();
  const mutants: NumberedMutant[] = [];
  for (const file of sources(names, since)) {
    const source = readFileSync(join(ROOT, file), 'utf8');
    const found = mutationsOf(file, source);
    const first = mutants.length;
    switched.set(join(ROOT, file), withSwitches(source, found, first));
    mutants.push(...found.mutants.map((mutant, at) => ({ ...mutant, number: first + at, file })));
  }
  const folders = [...Map.groupBy(mutants, ({ file }) => folderOf(file)).values()];
  return { mutants: folders.flatMap((all) => sampled(all, sample ?? all.length, offset)), switched };
}

/** The folder of `src`, which has a score. */
export const folderOf = (file: string): string => file.split('/').slice(0, 2).join('/');

function sources(names: readonly string[], since: string | undefined): readonly string[] {
  const named = names.length > 0 ? names : FOLDERS.map((folder) => join(ROOT, folder));
  const all = named.flatMap((name) => {
    const path = relative(ROOT, resolve(name));
    return statSync(join(ROOT, path)).isFile() ? [path] : globSync(`${path}/**/*.ts`, { cwd: ROOT });
  });
  const changed = since === undefined ? undefined : changedSince(since);
  return all.filter((file) => !file.endsWith('.d.ts') && (!changed || changed.includes(file))).sort();
}

const changedSince = (commit: string): readonly string[] =>
  execFileSync('git', ['diff', '--name-only', commit, '--', 'src'], { cwd: ROOT, encoding: 'utf8' }).split('\n');

function sampled<T>(all: readonly T[], most: number, offset: number): readonly T[] {
  const count = Math.min(most, all.length);
  const taken = (upTo: number): number => Math.floor(((upTo - offset) * count) / all.length);
  return all.filter((_, at) => taken(at + 1) > taken(at));
}
