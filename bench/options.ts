import { parseArgs } from 'node:util';
import type { BenchOptions } from './bench.ts';
import { SUBJECTS } from './subjects.ts';

const NAMES = Object.keys(SUBJECTS);

const aboutSubjects = Object.entries(SUBJECTS)
  .map(([name, { about, onDemand }]) => `  ${name.padEnd(9)}${onDemand ? '* ' : '  '}${about}`)
  .join('\n');

export const HELP = `Usage: npm run bench -- [options]

Measures Gatehouse on a simulated cluster, and beside a real kube-apiserver where it is built (npm run tools:build). Tables, each with
its targets and whether they are met, go to standard output, progress to standard error.

Subjects (those with * are measured only when they are asked for by --only):
${aboutSubjects}

Options:
  --only SUBJECT   measure this one alone
  --seconds N      measured seconds for each server, coding and round, after 1 s of warm-up; default: 3
  --rounds N       rounds, each with all servers in turn; default: 3
  --built          run what npm run build made, as the image does, instead of the sources
  --no-cluster     leave the real kube-apiserver out
  --json           print one JSON object instead of tables
  --help           print this text and end

Of single subjects:
  --nodes LIST     lists, turns: numbers of nodes, 12 kB each; sign-in, browser, visits: the smallest, watch: the largest of them; default: 100,1000
  --samples N      sign-in: sign-ins with a known and with an unknown name, of each, and as many wrong client secrets; default: 200,
                   which takes half a minute
  --watchers N     watch: open watches, each a file descriptor of two processes (ulimit -n); default: 10000
  --minutes N      soak: its length, a random fault in each; default: 2
  --visits N       visits: of the sign-in page, while its memory is measured; default: 100000
  --seed N         soak: what the faults are drawn from; default: 1
  --svg FILE       curve, growth: draw it there as well

For example:
  npm run bench -- --only lists --nodes 10 --rounds 1 --seconds 1 --no-cluster
  npm run bench -- --only watch --watchers 500 --nodes 100
`;

/** What to measure, how to run it, and how to report it. */
export interface Asked {
  readonly options: BenchOptions;
  /** The names of the subjects to measure. */
  readonly subjects: readonly string[];
  readonly built: boolean;
  readonly cluster: boolean;
  readonly json: boolean;
}

export type Command =
  | ({ readonly kind: 'run' } & Asked)
  | { readonly kind: 'help' }
  | { readonly kind: 'misuse'; readonly message: string };

const OPTIONS = {
  nodes: { type: 'string', default: '100,1000' },
  seconds: { type: 'string', default: '3' },
  rounds: { type: 'string', default: '3' },
  only: { type: 'string' },
  samples: { type: 'string', default: '200' },
  watchers: { type: 'string', default: '10000' },
  minutes: { type: 'string', default: '2' },
  visits: { type: 'string', default: '100000' },
  seed: { type: 'string', default: '1' },
  svg: { type: 'string' },
  built: { type: 'boolean', default: false },
  'no-cluster': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Reads the command line. Never throws: input that it cannot understand is a misuse, with a sentence that says so. */
export function parseCommand(args: readonly string[]): Command {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (values.help) return { kind: 'help' };
    const options: BenchOptions = {
      nodes: [...new Set(values.nodes.split(',').map((text) => positive('--nodes', text)))].sort((a, b) => a - b),
      seconds: positive('--seconds', values.seconds),
      rounds: positive('--rounds', values.rounds),
      samples: positive('--samples', values.samples),
      watchers: positive('--watchers', values.watchers),
      minutes: positive('--minutes', values.minutes),
      visits: positive('--visits', values.visits),
      seed: positive('--seed', values.seed),
      svg: values.svg,
    };
    const { built, json, 'no-cluster': noCluster } = values;
    return { kind: 'run', options, subjects: subjectsFor(values.only), built, cluster: !noCluster, json };
  } catch (error) {
    return { kind: 'misuse', message: (error as Error).message };
  }
}

function positive(name: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`${name}: expected a positive whole number, not "${text}"`);
  return Number(text);
}

function subjectsFor(only: string | undefined): string[] {
  if (only === undefined) return NAMES.filter((name) => !SUBJECTS[name]?.onDemand);
  if (NAMES.includes(only)) return [only];
  throw new Error(`--only: expected one of ${NAMES.join(', ')}, not "${only}"`);
}
