import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type RunnerTestCase, type RunnerTestFile, TestRunner } from 'vitest';
import { Journal } from './journal.ts';

/** So many mutants are tried before the tests have to pass without any again: a mutant may leave something behind. */
const BETWEEN_CONTROLS = 40;
/** Tests that take more of a core are left out: each mutant that lives would take as much. */
const SLOW_TEST_CPU_MS = 2_000;
/** A loop that goes on for so long after its test began, or its file, is endless by the mutant. */
const PATIENCE_MS = 5_000;
const TURNS_BETWEEN_LOOKS = 512;
const NONE = -1;

const places = { on: NONE, reached: new Set<number>(), until: Number.POSITIVE_INFINITY, turns: 0 };

/** The switches in the mutated sources call these. */
Object.assign(globalThis, {
  __mutant(number: number): boolean {
    if (places.on === NONE) places.reached.add(number);
    return number === places.on;
  },
  __turn(): void {
    if (++places.turns % TURNS_BETWEEN_LOOKS === 0 && performance.now() > places.until)
      throw new Error('the mutant takes too long');
  },
});

// Which case fails first is enough: looking for a smaller one takes longer than all other tests.
fc.configureGlobal({ endOnFailure: true });
// What tests print is read by nobody here.
process.stdout.write = () => true;

interface Spec {
  readonly filepath: string;
}

interface Baseline {
  /** What the file itself, its hooks and the imports reached. */
  readonly shared: Set<number>;
  readonly byTest: Map<string, Set<number>>;
  /** The tests that pass, soon enough. */
  readonly passed: Set<string>;
  isDone: boolean;
}

/**
 * Runs a file of tests once as it is, to see which test reaches which mutant, and then once for each mutant, with
 * those tests alone that reach it: all in one worker, which transforms no module again.
 */
export default class MutationRunner extends TestRunner {
  readonly #folder = String(process.env['MUTATION_FOLDER']);
  readonly #journal = new Journal(this.#folder);
  readonly #pending = new Set<number>(JSON.parse(readFileSync(join(this.#folder, 'pending.json'), 'utf8')) as number[]);
  #baseline: Baseline | undefined;
  #plan: number[] = [];
  #sinceControl: number[] = [];
  #failed: string | undefined;
  #path = '';
  #cpuBefore = process.cpuUsage();

  onBeforeCollect(paths: string[]): void {
    const [path = ''] = paths;
    this.#failed = undefined;
    places.reached = new Set();
    if (path !== this.#path) {
      this.#path = path;
      places.on = NONE;
      places.until = Number.POSITIVE_INFINITY;
      this.#baseline = {
        ...{ shared: places.reached, byTest: new Map(), passed: new Set() },
        ...{ isDone: false },
      };
      return;
    }
    const isControl = this.#sinceControl.length >= BETWEEN_CONTROLS || this.#plan.length === 0;
    places.on = isControl ? NONE : (this.#plan.shift() ?? NONE);
    places.turns = 0;
    places.until = performance.now() + PATIENCE_MS;
    if (places.on !== NONE) this.#journal.write({ what: 'began', mutant: places.on, tests: path });
  }

  onBeforeRunFiles(files: RunnerTestFile[]): void {
    const baseline = this.#baseline;
    if (!baseline || this.#isFirst) return;
    const isChosen = ({ id }: RunnerTestCase): boolean => {
      if (!baseline.passed.has(id)) return false;
      if (places.on === NONE) return true;
      return baseline.shared.has(places.on) || baseline.byTest.get(id)?.has(places.on) === true;
    };
    for (const test of testsOf(files)) if (!isChosen(test)) test.mode = 'skip';
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    if (this.#isFirst) {
      places.reached = new Set();
      this.#baseline?.byTest.set(test.id, places.reached);
      this.#cpuBefore = process.cpuUsage();
    } else places.until = performance.now() + PATIENCE_MS;
    if (this.#failed !== undefined) test.mode = 'skip'; // one test that fails is enough
    await super.onBeforeRunTask(test);
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    super.onAfterRunTask(test);
    const hasFailed = test.result?.state === 'fail';
    if (this.#isFirst && this.#baseline) {
      places.reached = this.#baseline.shared;
      const { user, system } = process.cpuUsage(this.#cpuBefore);
      if (!hasFailed && user + system <= SLOW_TEST_CPU_MS * 1_000) this.#baseline.passed.add(test.id);
    } else if (hasFailed) this.#failed ??= test.name;
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files);
    const file = files[0];
    if (this.#isFirst) this.#finishFirst();
    else if (places.on === NONE) this.#finishControl(this.#failed);
    else this.#finishMutant(file?.result?.state === 'fail' ? (this.#failed ?? 'the file') : undefined);
    const next = this.#nextPending();
    if (next === undefined && this.#sinceControl.length === 0) return;
    // Modules have no state of their own: they are read anew only where the mutant is in what they do when they are read.
    const { shared } = this.#baseline as Baseline;
    this.config.isolate = shared.has(places.on) || (next !== undefined && shared.has(next));
    // The worker goes through this list: a file that is added is run next, as the first time.
    const list = (this as unknown as { workerState: { ctx: { files: Spec[] } } }).workerState.ctx.files;
    const spec = list.at(-1);
    if (spec) list.push(spec);
  }

  get #isFirst(): boolean {
    return this.#baseline?.isDone === false;
  }

  #finishFirst(): void {
    const baseline = this.#baseline as Baseline;
    baseline.isDone = true;
    const all = new Set([...baseline.shared, ...[...baseline.byTest.values()].flatMap((set) => [...set])]);
    const mutants = baseline.passed.size > 0 ? [...all].filter((mutant) => this.#pending.has(mutant)) : [];
    this.#journal.write({ what: 'reached', mutants, tests: this.#path });
    const tried = triedBefore(this.#folder, this.#path);
    this.#plan = mutants.filter((mutant) => !tried.has(mutant)).sort((a, b) => a - b);
  }

  #finishMutant(by: string | undefined): void {
    const mutant = places.on;
    const base = { mutant, tests: this.#path };
    this.#journal.write(by === undefined ? { what: 'lived', ...base } : { what: 'killed', by, ...base });
    if (by !== undefined) this.#sinceControl.push(mutant);
  }

  #finishControl(failed: string | undefined): void {
    const mutants = this.#sinceControl;
    this.#sinceControl = [];
    if (failed === undefined) return;
    this.#journal.write({ what: 'spoilt', mutants, tests: this.#path });
    process.kill(process.pid, 'SIGKILL'); // a new process begins clean
  }

  /** Leaves out what the tests of another file have killed meanwhile, and what enough files let live. */
  #nextPending(): number | undefined {
    const over = overSoFar(this.#folder);
    while (this.#plan[0] !== undefined && over.has(this.#plan[0])) this.#plan.shift();
    return this.#plan[0];
  }
}

function testsOf(tasks: readonly { readonly type: string; readonly tasks?: readonly unknown[] }[]): RunnerTestCase[] {
  return tasks.flatMap((task) =>
    task.type === 'test'
      ? [task as unknown as RunnerTestCase]
      : testsOf((task.tasks ?? []) as Parameters<typeof testsOf>[0]),
  );
}

const numbersIn = (file: string): ReadonlySet<number> =>
  new Set(existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as number[]) : []);

/** Kept up by the main process, a second behind. */
const overSoFar = (folder: string): ReadonlySet<number> => numbersIn(join(folder, 'over.json'));

function triedBefore(folder: string, path: string): ReadonlySet<number> {
  const all = JSON.parse(readFileSync(join(folder, 'tried.json'), 'utf8')) as Readonly<Record<string, number[]>>;
  return new Set(all[path] ?? []);
}
