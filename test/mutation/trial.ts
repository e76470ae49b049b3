import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createVitest } from 'vitest/node';
import { END_OF_PROCESS, endWorkers, entriesIn, goOn, type Outcome, outcomeOf } from './journal.ts';
import { type Plan, ROOT } from './plan.ts';

const PROGRESS_MS = 10_000;
/** A worker that says nothing for so long hangs in a mutant: longer than any file of tests takes. */
const SILENT_MS = 120_000;

/**
 * Files of integration and other tests that a mutant is tried with. Up to ninety reach it, of seconds each; what eight of them let
 * live counts as alive, so a score is no higher than it would be with all.
 */
const MOST_FILES = 8;

/** For each core, since a mutant that makes a test wait takes no processor. */
const WORKERS = 3 * availableParallelism();

/** A test that fails by waiting is to fail soon: many mutants make one wait. */
const LIMITS = { testTimeout: 10_000, hookTimeout: 20_000, expect: { poll: { timeout: 8_000 } } };
/** Generated tests at a tenth of their runs and less. */
const SHORT_RUNS = { MODEL_RUNS: '20', FUZZ_REQUESTS: '200' };

/** The mutants of a plan, tried by one set of tests after the other; what the first has killed the next does not see. */
export class Trial {
  readonly #plan: Plan;
  readonly #folder: string;
  /** Whether the next run may go on with it. */
  readonly #isKept: boolean;

  /** `journal` is the folder of a run that was stopped, or of one that may be; default: one that is removed at the end. */
  constructor(plan: Plan, journal?: string) {
    this.#plan = plan;
    this.#isKept = journal !== undefined;
    this.#folder = journal ?? mkdtempSync(join(tmpdir(), 'gatehouse-mutants-'));
    mkdirSync(this.#folder, { recursive: true });
    goOn(this.#folder);
    const sources = join(this.#folder, 'sources');
    const hash = createHash('sha256')
      .update(JSON.stringify([...plan.switched]))
      .digest('hex');
    if (existsSync(sources) && readFileSync(sources, 'utf8') !== hash)
      throw new Error(`${journal} is of other sources: its numbers are of other mutants`);
    writeFileSync(sources, hash);
  }

  get killed(): Outcome['killed'] {
    return outcomeOf(entriesIn(this.#folder)).killed;
  }

  /** Tries what still lives, again and again while a worker dies of it. */
  async run(name: string, tests: string): Promise<void> {
    for (;;) {
      const before = outcomeOf(entriesIn(this.#folder));
      const alive = this.#plan.mutants.map(({ number }) => number).filter((number) => !before.killed.has(number));
      this.#write('pending.json', alive);
      this.#tell(before);
      if (alive.length === 0) return;
      await this.#once(name, tests, this.#done(before));
      if (outcomeOf(entriesIn(this.#folder)).ends === before.ends) return;
    }
  }

  /** Ends what is under way: it is neither killed nor alive. */
  stop(): void {
    endWorkers(this.#folder, 'stopped');
  }

  end(): void {
    this.stop();
    if (!this.#isKept) rmSync(this.#folder, { recursive: true });
  }

  /** The files of tests that have nothing left to try. */
  #done({ reached, killed, tried }: Outcome): string[] {
    const over = new Set([...killed.keys(), ...wornOut(pairsOf(tried))]);
    const isOver = ([tests, mutants]: readonly [string, readonly number[]]): boolean =>
      mutants.every((mutant) => over.has(mutant) || tried.has(`${mutant} ${tests}`));
    return [...reached].filter(isOver).map(([tests]) => tests);
  }

  async #once(name: string, tests: string, done: readonly string[]): Promise<void> {
    const vitest = await this.#createVitest(tests, done);
    let triesBefore = -1;
    let saidAt = performance.now();
    const timer = setInterval(() => {
      const entries = entriesIn(this.#folder);
      const outcome = outcomeOf(entries);
      this.#tell(outcome);
      const { mutants } = this.#plan;
      process.stdout.write(
        `${name}: ${outcome.killed.size} of ${mutants.length} killed, ${outcome.tried.size} tries\n`,
      );
      if (entries.length !== triesBefore) saidAt = performance.now();
      triesBefore = entries.length;
      if (performance.now() - saidAt >= SILENT_MS) endWorkers(this.#folder, 'silent');
    }, PROGRESS_MS);
    try {
      await vitest.start();
    } catch (error) {
      // No test of this kind reaches the files: the next kind may.
      if ((error as { code?: unknown }).code !== 'VITEST_FILES_NOT_FOUND') throw error;
    } finally {
      clearInterval(timer);
      await vitest.close();
    }
  }

  #createVitest(tests: string, done: readonly string[]): ReturnType<typeof createVitest> {
    const { switched } = this.#plan;
    return createVitest(
      'test',
      {
        ...{
          root: ROOT,
          config: false,
          watch: false,
          reporters: [{}],
          silent: true,
          fsModuleCache: false, // it would give the switches of one run to another
          include: [tests],
          exclude: done.map((path) => relative(ROOT, path)),
          restoreMocks: true,
          setupFiles: join(ROOT, 'test/support/after-each-test.ts'),
        },
        ...{ pool: 'forks', maxWorkers: WORKERS, dangerouslyIgnoreUnhandledErrors: true },
        ...{ runner: join(import.meta.dirname, 'runner.ts'), related: [...switched.keys()], ...LIMITS },
        env: { MUTATION_FOLDER: this.#folder, ...SHORT_RUNS },
      },
      {
        plugins: [{ name: 'mutants', enforce: 'pre', transform: (_code, id) => switched.get(id.split('?')[0] ?? '') }],
      },
    );
  }

  #tell({ killed, tried }: Outcome): void {
    const pairs = pairsOf(tried);
    const byTests = Object.groupBy(pairs, ([, tests = '']) => tests);
    const numbers = Object.entries(byTests).map(([tests, all = []]) => [tests, all.map(([mutant]) => Number(mutant))]);
    const found = [...killed].filter(([, by]) => by !== END_OF_PROCESS).map(([number]) => number);
    this.#write('over.json', [...found, ...wornOut(pairs)]);
    this.#write('tried.json', Object.fromEntries(numbers));
  }

  /** Whole or not at all: workers read it meanwhile. */
  #write(name: string, value: unknown): void {
    const path = join(this.#folder, name);
    writeFileSync(`${path}.new`, JSON.stringify(value));
    renameSync(`${path}.new`, path);
  }
}

const pairsOf = (tried: Outcome['tried']): readonly string[][] => [...tried].map((pair) => pair.split(' '));

/** Those that enough files of other than unit tests let live. */
function wornOut(tried: readonly string[][]): number[] {
  const others = tried.filter(([, tests = '']) => !tests.includes('/test/unit/'));
  const files = Map.groupBy(others, ([mutant]) => Number(mutant));
  return [...files].filter(([, all]) => all.length >= MOST_FILES).map(([mutant]) => mutant);
}
