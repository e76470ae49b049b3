import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Failures, readReport } from './report.ts';

const USAGE = `Usage: npm run test:steady [-- options]

Runs \`npm test\` again and again and prints which tests failed how often. A test that fails in one way of running and
not in another depends on the machine.

Options: how often in each way, or --runs; without any of them, 20 runs
  --plain N      as it is
  --busy N       beside one busy loop more than there are cores
  --one-core N   on one core (needs taskset)
  --shuffled N   files and tests in another order, a new one each time
  --runs N       N runs, the ways in turn
  --help         print this text and end

The output of runs that fail is kept in a folder, which is named at the end.
`;

/** A run on one busy core takes ten times as long as one as it is. */
const LONGEST_RUN_MS = 40 * 60_000;

const WAYS = ['plain', 'busy', 'one-core', 'shuffled'] as const;
type Way = (typeof WAYS)[number];

interface Run extends Failures {
  readonly way: Way;
  readonly seconds: number;
}

/** The ways of all runs, in order; `undefined`: the usage is asked for. */
function planOf(args: readonly string[]): readonly Way[] | undefined {
  const count = { type: 'string' } as const;
  const ways = { plain: count, busy: count, 'one-core': count, shuffled: count };
  const { values } = parseArgs({ args: [...args], options: { help: { type: 'boolean' }, runs: count, ...ways } });
  if (values.help) return undefined;
  const counts = [values.runs, ...WAYS.map((way) => values[way])].filter((text) => text !== undefined);
  if (counts.some((text) => !/^\d{1,4}$/.test(text))) throw new Error('a count is a number from 0 to 9999');
  const isInTurn = WAYS.every((way) => values[way] === undefined);
  if (!isInTurn && values.runs !== undefined) throw new Error('--runs is for the ways in turn: leave it or them out');
  const plan = isInTurn
    ? Array.from({ length: Number(values.runs ?? 20) }, (_, at) => WAYS[at % WAYS.length] as Way)
    : WAYS.flatMap((way) => Array.from({ length: Number(values[way] ?? 0) }, () => way));
  if (plan.length === 0) throw new Error('these options run nothing');
  return plan;
}

/** The command of one run; `seed` sets the order where it is another one. */
function commandOf(way: Way, report: string, seed: number): readonly string[] {
  const test = ['npm', 'test', '--', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  if (way === 'one-core') return ['taskset', '--cpu-list', firstCore(), ...test];
  if (way !== 'shuffled') return test;
  return [...test, '--sequence.shuffle.files', '--sequence.shuffle.tests', `--sequence.seed=${seed}`];
}

/** The first processor that this process may use, by Linux's count. */
const firstCore = (): string =>
  /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';

/** What has to end with this process, however it ends. */
const children = new Set<ChildProcess>();

async function runOnce(way: Way, output: string, seed: number): Promise<Run> {
  const loops = way === 'busy' ? startBusyLoops() : [];
  const began = performance.now();
  try {
    const ending = await run(commandOf(way, `${output}.json`, seed), `${output}.log`);
    const seconds = Math.round((performance.now() - began) / 1_000);
    return { way, seconds, ...readReport(`${output}.json`, ending) };
  } finally {
    for (const loop of loops) endGroup(loop);
  }
}

const startBusyLoops = (): ChildProcess[] =>
  Array.from({ length: availableParallelism() + 1 }, () => start([process.execPath, '--eval', 'for (;;);'], 'ignore'));

/** Starts a process in a group of its own, which is ended as a whole. */
function start([command = '', ...args]: readonly string[], output: 'ignore' | 'pipe'): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', output, output], detached: true });
  children.add(child);
  child.once('exit', () => children.delete(child)).on('error', () => children.delete(child));
  return child;
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

/** Resolves with '' when the command succeeds, otherwise with how it ended. Its output goes to the file. */
async function run(command: readonly string[], output: string): Promise<string> {
  const child = start(command, 'pipe');
  const file = createWriteStream(output);
  for (const stream of [child.stdout, child.stderr]) stream?.pipe(file, { end: false });
  const limit = setTimeout(() => endGroup(child), LONGEST_RUN_MS);
  const ending = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? '' : `it ended with ${signal ?? `code ${code}`}`));
  });
  clearTimeout(limit);
  endGroup(child);
  return ending;
}

function printTables(runs: readonly Run[]): void {
  console.log('\n| way | runs | green | seconds, least to most |\n|---|---|---|---|');
  for (const way of WAYS) {
    const own = runs.filter((one) => one.way === way);
    if (own.length === 0) continue;
    const times = own.map(({ seconds }) => seconds).sort((a, b) => a - b);
    const green = own.filter(({ failed }) => failed.size === 0).length;
    console.log(`| ${way} | ${own.length} | ${green} | ${times[0]} to ${times.at(-1)} |`);
  }
  const names = [...new Set(runs.flatMap(({ failed }) => [...failed.keys()]))];
  if (names.length > 0) console.log('\n| failed | how often | what it said |\n|---|---|---|');
  for (const name of names) {
    const own = runs.filter(({ failed }) => failed.has(name));
    const counts = WAYS.map((way) => [way, own.filter((one) => one.way === way).length] as const);
    const often = counts.flatMap(([way, count]) => (count > 0 ? [`${way} ${count}`] : [])).join(', ');
    console.log(`| ${inCell(name)} | ${often} | ${inCell(own[0]?.failed.get(name) ?? '')} |`);
  }
}

/** A bar would begin another column. */
const inCell = (text: string): string => text.replaceAll('|', '\\|');

async function main(): Promise<number> {
  const plan = planOf(process.argv.slice(2));
  if (!plan) {
    console.log(USAGE);
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'steady-'));
  const runs: Run[] = [];
  const finish = (): number => {
    for (const child of children) endGroup(child);
    printTables(runs);
    const isGreen = runs.every(({ failed }) => failed.size === 0);
    if (isGreen) rmSync(folder, { recursive: true });
    else console.log(`\nOutput of the runs that failed: ${folder}`);
    return isGreen ? 0 : 1;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      finish();
      process.exit(1);
    });
  }
  for (const [at, way] of plan.entries()) {
    const output = join(folder, String(at + 1));
    const seed = randomInt(2 ** 31);
    const one = await runOnce(way, output, seed);
    runs.push(one);
    const order = way === 'shuffled' ? ` in the order ${seed}` : '';
    const counts = `${one.passed} passed, ${one.failed.size} failed, ${one.skipped} skipped`;
    console.log(`${at + 1} of ${plan.length}, ${way}${order}: ${counts}, ${one.seconds} s`);
    for (const [name, said] of one.failed) console.log(`  ${name}: ${said}`);
    if (one.failed.size === 0) for (const kind of ['json', 'log']) rmSync(`${output}.${kind}`, { force: true });
  }
  return finish();
}

process.exitCode = await main().catch((error: Error) => {
  console.error(`${error.message}\n\n${USAGE}`);
  return 2;
});
