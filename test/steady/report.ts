import { readFileSync } from 'node:fs';

export interface Failures {
  /** Failed tests and files that did not load, each with the first line of its error. */
  readonly failed: ReadonlyMap<string, string>;
  readonly passed: number;
  readonly skipped: number;
}

/** What vitest's JSON reporter writes, as far as it is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly numPendingTests: number;
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

/** What failed in a run. `ending`: how its command ended, '' when it succeeded. A run without a report has failed. */
export function readReport(file: string, ending: string): Failures {
  const failed = new Map<string, string>();
  let [passed, skipped] = [0, 0];
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    passed = report.numPassedTests;
    skipped = report.numPendingTests;
    for (const { name, status, message, assertionResults } of report.testResults) {
      const own = assertionResults.filter((one) => one.status === 'failed');
      for (const one of own) failed.set(`${shortName(name)}: ${one.fullName}`, firstLine(one.failureMessages?.[0]));
      if (status === 'failed' && own.length === 0) failed.set(shortName(name), firstLine(message));
    }
  } catch {
    failed.set('no report', ending || 'the command succeeded');
  }
  if (ending !== '' && failed.size === 0) failed.set('outside the tests', ending);
  return { failed, passed, skipped };
}

const firstLine = (text = ''): string => text.trim().split('\n', 1)[0] ?? '';

const shortName = (path: string): string => path.replace(`${process.cwd()}/`, '');
