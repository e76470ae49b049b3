import { writeFile } from 'node:fs/promises';
import { HELP, parseCommand } from './options.ts';
import { toolsAreBuilt } from './peers/built-tools.ts';
import { drawCurve } from './print-curve.ts';
import { printResults } from './print-results.ts';
import { runBench } from './run.ts';

const EXIT_FAILED = 1;
const EXIT_MISUSE = 2;

const note = (line: string): void => void process.stderr.write(`bench: ${line}\n`);

/** `exit` handlers end every process and remove every file of the bench, whichever way it ends. */
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

function whyWithoutReal(wanted: boolean): string | undefined {
  if (!wanted) return '--no-cluster';
  return toolsAreBuilt(process.env) ? undefined : 'not built: run npm run tools:build';
}

async function main(): Promise<number> {
  const command = parseCommand(process.argv.slice(2));
  if (command.kind === 'misuse') {
    process.stderr.write(`bench: ${command.message}\n\n${HELP}`);
    return EXIT_MISUSE;
  }
  if (command.kind === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const { options } = command;
  const results = await runBench(options, whyWithoutReal(options.cluster), note);
  if (options.svg !== undefined && results.curve) await writeFile(options.svg, drawCurve(results.curve));
  process.stdout.write(options.json ? `${JSON.stringify(results, undefined, 2)}\n` : printResults(results));
  return 0;
}

const code = await main().catch((error: Error) => {
  note(error.message);
  return EXIT_FAILED;
});
// Not by itself: the children have open channels. A pipe takes what was written before the callback comes.
process.stdout.write('', () => process.exit(code));
