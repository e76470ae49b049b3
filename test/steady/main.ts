import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const USAGE = `Usage: npm run test:steady [-- options]

Runs \`npm test\` again and again and prints which tests failed how often. A test that fails in one way of running and
not in another depends on the machine.

Options: how often in each way; without any of them, 20 runs, the ways in turn
  --plain N      as it is
  --busy N       beside one busy loop more than there are cores
  --one-core N   on one core (needs taskset)
  --shuffled N   files and tests in another order
  --runs N       N runs, the ways in turn
  --help         print this text and end
`;

/** A run on one busy core takes ten times as long as one as it is. */
const LONGEST_RUN_MS = 40 * 60_000;

const WAYS = ['plain', 'busy', 'one-core', 'shuffled'] as const;
type Way = (typeof WAYS)[number];

interface Run {
  readonly way: Way;
  readonly seconds: number;
  /** Full names of failed tests, with the first line of what they said; files that could not be run at all. */
  readonly failed: ReadonlyMap<string, string>;
  readonly passed: number;
}

/** What vitest's JSON reporter writes, as far as it is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

function planOf(args: readonly string[]): readonly Way[] | undefined {
  const count = { type: 'string' } as const;
  const options = {
    help: { type: 'boolean' },
    runs: count,
    plain: count,
    busy: count,
    'one-core': count,
    shuffled: count,
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return undefined;
  const numbers = [values.runs, ...WAYS.map((way) => values[way])];
  if (numbers.some((text) => text !== undefined && !/^\d{1,4}$/.test(text)))
    throw new Error('a count is a number from 0 to 9999');
  if (WAYS.every((way) => values[way] === undefined))
    return Array.from({ length: Number(values.runs ?? 20) }, (_, at) => WAYS[at % WAYS.length] as Way);
  return WAYS.flatMap((way) => Array.from({ length: Number(values[way] ?? 0) }, () => way));
}

/** The command of one run; `seed` sets the order of files where they are shuffled. */
function commandOf(way: Way, report: string, seed: number): readonly string[] {
  const test = ['npm', 'test', '--', '--reporter=json', `--outputFile.json=${report}`];
  if (way === 'one-core') return ['taskset', '--cpu-list', '0', ...test];
  if (way === 'shuffled')
    return [...test, '--sequence.shuffle.files', '--sequence.shuffle.tests', `--sequence.seed=${seed}`];
  return test;
}

async function runOnce(way: Way, folder: string, seed: number): Promise<Run> {
  const loops = way === 'busy' ? startBusyLoops() : [];
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const began = performance.now();
  try {
    const [command = '', ...args] = commandOf(way, report, seed);
    const said = await outcomeOf(
      spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: LONGEST_RUN_MS }),
    );
    const seconds = Math.round((performance.now() - began) / 1_000);
    return { way, seconds, ...readReport(report, said) };
  } finally {
    for (const loop of loops) loop.kill('SIGKILL');
  }
}

const startBusyLoops = (): ChildProcess[] =>
  Array.from({ length: availableParallelism() + 1 }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
  );

/** Resolves with '' when the command succeeded, and with how it ended and the last that it said when not. */
function outcomeOf(child: ChildProcess): Promise<string> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk).slice(-2_000);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code === 0 ? '' : `ended with ${signal ?? code}: ${said}`));
  });
}

function readReport(file: string, said: string): Pick<Run, 'failed' | 'passed'> {
  const failed = new Map<string, string>();
  const firstLine = (text = ''): string => text.trim().split('\n', 1)[0] ?? '';
  let passed = 0;
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    passed = report.numPassedTests;
    for (const { name, status, message, assertionResults } of report.testResults) {
      const wrong = assertionResults.filter((one) => one.status === 'failed');
      for (const one of wrong) failed.set(`${shortName(name)}: ${one.fullName}`, firstLine(one.failureMessages?.[0]));
      if (status === 'failed' && wrong.length === 0) failed.set(shortName(name), firstLine(message));
    }
  } catch {
    failed.set('no report', said);
  }
  if (said !== '' && failed.size === 0) failed.set('outside the tests', said);
  return { failed, passed };
}

const shortName = (path: string): string => path.replace(`${process.cwd()}/`, '');

function printTable(runs: readonly Run[]): void {
  console.log('\n| way | runs | green | seconds, least to most |\n|---|---|---|---|');
  for (const way of WAYS) {
    const own = runs.filter((run) => run.way === way);
    if (own.length === 0) continue;
    const times = own.map(({ seconds }) => seconds).sort((a, b) => a - b);
    console.log(
      `| ${way} | ${own.length} | ${own.filter(({ failed }) => failed.size === 0).length} | ${times[0]} to ${times.at(-1)} |`,
    );
  }
  const names = [...new Set(runs.flatMap(({ failed }) => [...failed.keys()]))];
  if (names.length === 0) return;
  console.log('\n| failed | how often | what it said |\n|---|---|---|');
  for (const name of names) {
    const own = runs.filter(({ failed }) => failed.has(name));
    const ways = WAYS.map((way) => [way, own.filter((run) => run.way === way).length] as const);
    const often = ways.flatMap(([way, count]) => (count > 0 ? [`${way} ${count}`] : [])).join(', ');
    console.log(`| ${name} | ${often} | ${own[0]?.failed.get(name)} |`);
  }
}

async function main(): Promise<number> {
  const plan = planOf(process.argv.slice(2));
  if (!plan) {
    console.log(USAGE);
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'steady-'));
  const runs: Run[] = [];
  try {
    for (const [at, way] of plan.entries()) {
      const run = await runOnce(way, folder, at + 1);
      runs.push(run);
      console.log(
        `${at + 1} of ${plan.length}, ${way}: ${run.passed} passed, ${run.failed.size} failed, ${run.seconds} s`,
      );
      for (const [name, said] of run.failed) console.log(`  ${name}: ${said}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  printTable(runs);
  return runs.every(({ failed }) => failed.size === 0) ? 0 : 1;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(`${error.message}\n\n${USAGE}`);
  return 2;
});
