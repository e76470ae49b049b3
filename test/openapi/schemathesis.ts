import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonWith } from '../support/python-environment.ts';

const here = (name: string): string => join(import.meta.dirname, name);
const run = promisify(execFile);

/** Made before the tests: the minutes of the first time are not for their limits. */
const python = await pythonWith('schemathesis', here('requirements.txt'));

export interface Findings {
  /** `ST103 Undocumented status code: GET /version`, one for each kind of failure or error and operation. */
  readonly problems: readonly string[];
  /** All that Schemathesis said, with the requests and the answers. */
  readonly text: string;
  /** The statuses that each operation was answered with. */
  readonly statuses: ReadonlyMap<string, ReadonlySet<number>>;
}

export interface Fuzzing {
  /** Where the description is: a URL, or a file. */
  readonly description: string;
  readonly origin: string;
  /** The user that signs in. Absent: nobody, every request is without credentials. */
  readonly caller?: string;
  /** Further arguments of the command line. */
  readonly args?: readonly string[];
}

/** Calls every operation of the description with valid and with invalid requests, and judges the answers by it. */
export async function fuzz({ description, origin, caller, args = [] }: Fuzzing): Promise<Findings> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-openapi-'));
  const config = join(folder, 'config.toml');
  const report = join(folder, 'report.json');
  const events = join(folder, 'events.ndjson');
  try {
    const parts = ['schemathesis.toml', ...(caller ? ['signed-in.toml'] : [])];
    writeFileSync(config, parts.map((part) => readFileSync(here(part), 'utf8')).join(''));
    const reports = ['--report=json,ndjson', `--report-json-path=${report}`, `--report-ndjson-path=${events}`];
    const command = ['-m', 'schemathesis.cli', `--config-file=${config}`, 'run', description, ...reports, ...args];
    const environment = {
      ORIGIN: origin,
      CALLER: caller,
      PYTHONPATH: import.meta.dirname,
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const options = { cwd: folder, env: { ...process.env, ...environment }, maxBuffer: 2 ** 27 };
    // It ends with 1 when it has found something; with another code, or without a report, it did not run.
    const said = await run(python, command, options).catch((error: RunError) => {
      if (error.code !== 1 || !existsSync(report)) throw error;
      return error;
    });
    return { problems: problemsIn(report), text: said.stdout, statuses: statusesIn(events) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type RunError = Error & { readonly code?: number; readonly stdout: string };

interface Report {
  readonly failures: readonly {
    readonly code: string;
    readonly title: string;
    readonly operations: readonly string[];
  }[];
  readonly errors: readonly object[];
  readonly warnings: Readonly<Record<string, readonly unknown[]>>;
}

/** Warnings that say that something was not checked. The others say that much was refused, which is as it should be. */
const UNFOUNDED = [
  'base_url_mismatch',
  'dictionary_mismatch',
  'missing_deserializer',
  'rate_limited',
  'unmatched_filter',
  'unresolvable_reference',
  'unsupported_regex',
  'unused_openapi_auth',
];

function problemsIn(file: string): string[] {
  const { failures, errors, warnings } = JSON.parse(readFileSync(file, 'utf8')) as Report;
  return [
    ...failures.flatMap(({ code, title, operations }) =>
      operations.map((operation) => `${code} ${title}: ${operation}`),
    ),
    ...errors.map((error) => JSON.stringify(error)),
    ...UNFOUNDED.flatMap((name) => (warnings[name] ?? []).map((what) => `${name}: ${JSON.stringify(what)}`)),
  ];
}

interface Event {
  readonly ScenarioFinished?: {
    readonly recorder: {
      readonly label: string;
      readonly interactions?: Readonly<Record<string, { readonly response: { readonly status_code: number } | null }>>;
    };
  };
}

function statusesIn(file: string): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const recorder = (JSON.parse(line) as Event).ScenarioFinished?.recorder;
    if (!recorder) continue;
    const statuses = found.get(recorder.label) ?? new Set<number>();
    found.set(recorder.label, statuses);
    for (const { response } of Object.values(recorder.interactions ?? {}))
      if (response) statuses.add(response.status_code);
  }
  return found;
}
