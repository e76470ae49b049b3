import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a worker writes before and after it tries a mutant with the tests of one file. */
export type Entry =
  | { readonly what: 'began'; readonly mutant: number; readonly tests: string }
  | { readonly what: 'killed' | 'lived'; readonly mutant: number; readonly tests: string; readonly by?: string }
  /**
   * The tests fail without any mutant now: what was killed since the last such try counts for nothing. It is tried once more; where
   * that ends alike, these tests can say nothing of it.
   */
  | { readonly what: 'spoilt'; readonly mutants: readonly number[]; readonly tests: string };

/** Lines of JSON, a file for each worker, so that a worker that dies takes nothing with it. */
export class Journal {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, `journal-${process.pid}`);
  }

  write(entry: Entry): void {
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}

/** What all workers wrote so far. */
export function entriesIn(folder: string): readonly Entry[] {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('journal-')) : [];
  return files.flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Entry])),
  );
}

/** What killed a mutant that was begun and not ended: until its process has ended, it may as well be under way. */
export const END_OF_PROCESS = 'the end of its process';

export interface Outcome {
  /** By which test; a mutant under which a worker died or hung has none. */
  readonly killed: ReadonlyMap<number, string>;
  /** `mutant tests`, for what need not be tried again. */
  readonly tried: ReadonlySet<string>;
  /** How often a worker ended before it had tried everything. */
  readonly ends: number;
}

export function outcomeOf(entries: readonly Entry[]): Outcome {
  /** By mutant and tests: what one file's tests take back another's may have found as well. */
  const kills = new Map<string, readonly [number, string]>();
  const tried = new Set<string>();
  const open = new Map<string, number>();
  const spoilers = new Set<string>();
  let spoilt = 0;
  for (const entry of entries) {
    if (entry.what === 'began') open.set(`${entry.mutant} ${entry.tests}`, entry.mutant);
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
  return { killed, tried, ends: open.size + spoilt };
}
