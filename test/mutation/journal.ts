import { appendFileSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** What a worker writes before and after it tries a mutant with the tests of one file. */
export type Entry =
  /** Which of the mutants the tests of this file reach, of those that lived then. */
  | { readonly what: 'reached'; readonly mutants: readonly number[]; readonly tests: string }
  | { readonly what: 'began'; readonly mutant: number; readonly tests: string }
  | { readonly what: 'killed' | 'lived'; readonly mutant: number; readonly tests: string; readonly by?: string }
  /**
   * The tests fail without any mutant now: what was killed since the last such try counts for nothing. It is tried once more; where
   * that ends alike, these tests can say nothing of it.
   */
  | { readonly what: 'spoilt'; readonly mutants: readonly number[]; readonly tests: string }
  /** The run was stopped while this was under way, which says nothing of the mutant. */
  | { readonly what: 'stopped'; readonly mutant: number; readonly tests: string };

/** Lines of JSON, a file for each worker, so that a worker that dies takes nothing with it. */
export class Journal {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, `journal-${process.pid}-${startOf(process.pid)}`);
  }

  write(entry: Entry): void {
    append(this.#file, entry);
  }
}

const append = (file: string, entry: Entry): void => appendFileSync(file, `${JSON.stringify(entry)}\n`);

/** What all workers wrote so far. */
export function entriesIn(folder: string): readonly Entry[] {
  return globSync('journal-*', { cwd: folder }).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Entry])),
  );
}

/**
 * Ends the workers that write here and still run, by process id and start in the names of their journals. The id alone may be
 * another process's by now: a system gives each id again, and a long run begins thousands of processes.
 */
export function endWorkers(folder: string, because: 'stopped' | 'silent'): void {
  for (const name of globSync('journal-[0-9]*', { cwd: folder })) {
    const [, id = '', start = ''] = name.split('-');
    if (start === UNKNOWN || startOf(Number(id)) !== start) continue; // It has ended already.
    process.kill(Number(id), 'SIGKILL');
    const last = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').at(-1) ?? '';
    const { what, mutant, tests } = JSON.parse(last) as { what: string; mutant?: number; tests: string };
    if (because === 'stopped' && what === 'began')
      append(join(folder, name), { what: 'stopped', mutant: Number(mutant), tests });
  }
}

/** There is no such process, or no /proc: then no worker is ended, because nothing says which process it is. */
const UNKNOWN = 'unknown';

/** When a process began, in ticks since the machine did (proc_pid_stat(5), field 22). */
export function startOf(id: number): string {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    // The second field is the name in parentheses, which may have blanks and parentheses of its own.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

/** Begins with what a run before this one wrote, whose process ids are others' by now. */
export function goOn(folder: string): void {
  const names = globSync('journal-[0-9]*', { cwd: folder });
  for (const name of names) {
    appendFileSync(join(folder, 'journal-before'), readFileSync(join(folder, name)));
    rmSync(join(folder, name));
  }
}

/** What killed a mutant that was begun and not ended: until its process has ended, it may as well be under way. */
export const END_OF_PROCESS = 'the end of its process';

export interface Outcome {
  /** By which test; a mutant under which a worker died or hung has none. */
  readonly killed: ReadonlyMap<number, string>;
  /** `mutant tests`, for what need not be tried again. */
  readonly tried: ReadonlySet<string>;
  /** By file of tests: the mutants that it reaches. */
  readonly reached: ReadonlyMap<string, readonly number[]>;
  /** How often a worker ended before it had tried everything. */
  readonly ends: number;
}

export function outcomeOf(entries: readonly Entry[]): Outcome {
  /** By mutant and tests: what one file's tests take back another's may have found as well. */
  const kills = new Map<string, readonly [number, string]>();
  const tried = new Set<string>();
  const open = new Map<string, number>();
  const spoilers = new Set<string>();
  const reached = new Map<string, readonly number[]>();
  let spoilt = 0;
  for (const entry of entries) {
    if (entry.what === 'began') open.set(`${entry.mutant} ${entry.tests}`, entry.mutant);
    else if (entry.what === 'reached') reached.set(entry.tests, entry.mutants);
    else if (entry.what === 'stopped') open.delete(`${entry.mutant} ${entry.tests}`);
    else if (entry.what === 'spoilt') {
      spoilt++;
      for (const mutant of entry.mutants) {
        const pair = `${mutant} ${entry.tests}`;
        kills.delete(pair);
        if (!spoilers.has(pair)) tried.delete(pair);
        spoilers.add(pair);
      }
    } else {
      const pair = `${entry.mutant} ${entry.tests}`;
      open.delete(pair);
      tried.add(pair);
      if (entry.what === 'killed') kills.set(pair, [entry.mutant, entry.by ?? '']);
    }
  }
  const killed = new Map<number, string>(kills.values());
  for (const mutant of open.values()) killed.set(mutant, END_OF_PROCESS);
  return { killed, tried, reached, ends: open.size + spoilt };
}
