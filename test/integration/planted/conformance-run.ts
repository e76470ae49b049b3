import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const PROJECT = join(import.meta.dirname, '..', '..', '..');

/** Where the suite stands that is run with faults; it has no configuration of ours and is in no tier. */
const PLANTED = join(PROJECT, 'test', 'support', 'planted');

export interface Outcome {
  readonly passed: number;
  /** Titles with those of their groups, without the fault's name. */
  readonly failed: readonly string[];
}

interface Results {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string;
      readonly title: string;
      readonly ancestorTitles: readonly string[];
    }[];
  }[];
}

/** Runs the conformance suite in a process of its own, on a server with this fault. */
export async function runConformance(fault: string): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-planted-'));
  const file = join(folder, 'results.json');
  try {
    const args = ['run', '--root', PLANTED, '--cache=false', '--reporter=json', `--outputFile=${file}`];
    const child = spawn(process.execPath, [join(PROJECT, 'node_modules', 'vitest', 'vitest.mjs'), ...args], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PLANTED_FAULT: fault },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = await text(child.stderr);
    return outcome(readResults(file, said));
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

const outcome = ({ numPassedTests, testResults }: Results): Outcome => ({
  passed: numPassedTests,
  failed: testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== 'passed')
    .map(({ ancestorTitles, title }) => [...ancestorTitles.slice(1), title].join(' ')),
});
