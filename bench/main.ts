import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { makePageOfSources } from '../dev/build/page.ts';
import type { Bench } from './bench.ts';
import { createChildren } from './children.ts';
import { startGenerator } from './load/generator.ts';
import { type Asked, HELP, parseCommand } from './options.ts';
import { toolsAreBuilt } from './peers/clusters.ts';
import { findNginx } from './peers/nginx.ts';
import { SUBJECTS } from './subjects.ts';
import { number } from './table.ts';

const EXIT_FAILED = 1;
const EXIT_MISUSE = 2;
const ROOT = join(import.meta.dirname, '..');

const note = (line: string): void => void process.stderr.write(`bench: ${line}\n`);

/** `exit` handlers end every process and remove every file of the bench, whichever way it ends. */
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

async function main(): Promise<number> {
  const command = parseCommand(process.argv.slice(2));
  if (command.kind === 'misuse') {
    process.stderr.write(`bench: ${command.message}\n\n${HELP}`);
    return EXIT_MISUSE;
  }
  process.stdout.write(command.kind === 'help' ? HELP : await measure(command));
  return 0;
}

/** Measures the requested subjects, and returns the text to print. */
async function measure(asked: Asked): Promise<string> {
  const machine = { processors: availableParallelism(), node: process.version, loadAverage: loadavg()[0] ?? 0 };
  if (!asked.built) await makePageOfSources(ROOT);
  const bench = benchFor(asked);
  const results: Record<string, unknown> = { machine };
  const texts = [
    `${machine.processors} processors, Node ${machine.node}, load average ${number(machine.loadAverage)} at the start; medians over rounds`,
    '',
  ];
  for (const name of asked.subjects) {
    const outcome = await SUBJECTS[name]?.run(bench);
    if (!outcome) continue;
    results[name] = outcome.results;
    texts.push(outcome.text);
  }
  return asked.json ? `${JSON.stringify(results, undefined, 2)}\n` : texts.join('\n');
}

function benchFor({ options, built, cluster }: Asked): Bench {
  const program = built ? ['--enable-source-maps', join(ROOT, 'dist', 'main.js')] : [join(ROOT, 'src', 'main.ts')];
  const children = createChildren(program);
  const withoutReal = whyWithoutReal(cluster);
  return { children, generator: startGenerator(children), note, options, nginx: findNginx(process.env), withoutReal };
}

function whyWithoutReal(wanted: boolean): string | undefined {
  if (!wanted) return '--no-cluster';
  return toolsAreBuilt(process.env) ? undefined : 'not built: run npm run tools:build';
}

const code = await main().catch((error: Error) => {
  note(error.message);
  return EXIT_FAILED;
});
// The process does not end by itself, because the children have open channels. The callback comes when the output was written.
process.stdout.write('', () => process.exit(code));
