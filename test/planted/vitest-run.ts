import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { COMPILE_CACHE } from '../support/compile-cache.ts';

export const PROJECT = join(import.meta.dirname, '..', '..');

export interface Outcome {
  readonly passed: number;
  /** Titles with those of their groups. */
  readonly failed: readonly string[];
  /** What they failed with. */
  readonly messages: readonly string[];
}

interface Assertion {
  readonly status: string;
  readonly fullName: string;
  readonly failureMessages: readonly string[];
}

interface Results {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly Assertion[];
  }[];
}

export interface Surroundings {
  /** Default: the project. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs tests in a process of their own and says what became of each. */
export async function runVitest(args: readonly string[], { cwd = PROJECT, env = {} }: Surroundings): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-planted-'));
  const file = join(folder, 'results.json');
  try {
    const vitest = join(PROJECT, 'node_modules', 'vitest', 'vitest.mjs');
    const all = [vitest, 'run', ...args, '--cache=false', '--pool=threads', '--reporter=json', `--outputFile=${file}`];
    const { PATH, HOME } = process.env; // no more: the variables of the run around this one are not its own
    const child = spawn(process.execPath, all, {
      cwd,
      env: { PATH, HOME, ...COMPILE_CACHE, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return outcome(readResults(file, await text(child.stderr)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readResults(file: string, said: string): Results {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Results;
  } catch (cause) {
    throw new Error(`the planted run left no results: ${said}`, { cause });
  }
}

function outcome({ numPassedTests, testResults }: Results): Outcome {
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== 'passed');
  return {
    passed: numPassedTests,
    failed: failed.map(({ fullName }) => fullName).sort(),
    messages: failed.flatMap(({ failureMessages }) => failureMessages),
  };
}
