import { parseArgs } from 'node:util';
import { SUBJECTS, type Subject } from './subjects.ts';

export const HELP = `Usage: npm run bench -- [options]

Measures Gatehouse's lists side by side with a bare node:http server and nginx that send the same bytes, and with a real
kube-apiserver where it is built (npm run tools:build); pages of a large cluster, memory and start, what being idle costs, lists
while nodes change and while events pour in; then its sign-ins: what a flood of them leaves of the list, whether time tells a
known name, how many it makes; on request, watchers that wait, and the time until a change has reached all, and access reviews:
what a caller who floods them leaves to the others, how long a right outlives its end, and what a frozen API server costs; the longest turns of the event loop
while a large cluster is listed again, sent or watched. Tables go to
standard output, progress to standard error.

Options:
  --only WHAT      one of: lists, pages, size, idle, churn, storm, curve, soak, sign-in, reviews, watch, turns;
                   default: all but curve, soak, reviews, watch and turns
  --nodes LIST     numbers of nodes of the lists and turns, 12 kB each; default: 100,1000
  --seconds N      measured seconds for each peer, coding and round, after 1 s of warm-up; default: 3
  --rounds N       rounds, each with all peers in turn; default: 3
  --samples N      sign-ins with a known and with an unknown name, of each, and as many wrong client secrets; default: 200,
                   which takes half a minute
  --watchers N     open watches, each a file descriptor of two processes (ulimit -n); default: 10000
  --minutes N      length of the soak, a random fault in each; default: 2
  --seed N         what the faults are drawn from; default: 1
  --svg FILE       write the curve there as a picture
  --built          run what npm run build made, as the image does, instead of the sources
  --no-cluster     leave the real kube-apiserver out
  --json           print one JSON object instead of tables
  --help           print this text and end
`;

export interface BenchOptions {
  /** Ascending, each once. */
  readonly nodes: readonly number[];
  readonly seconds: number;
  readonly rounds: number;
  readonly only: Subject | undefined;
  readonly samples: number;
  readonly watchers: number;
  readonly minutes: number;
  readonly seed: number;
  readonly svg: string | undefined;
  readonly built: boolean;
  readonly cluster: boolean;
  readonly json: boolean;
}

export type Command =
  | { readonly kind: 'run'; readonly options: BenchOptions }
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
  seed: { type: 'string', default: '1' },
  svg: { type: 'string' },
  built: { type: 'boolean', default: false },
  'no-cluster': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Reads the command line. Never throws: what cannot be understood is a misuse with a sentence. */
export function parseCommand(args: readonly string[]): Command {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (values.help) return { kind: 'help' };
    const options: BenchOptions = {
      nodes: [...new Set(values.nodes.split(',').map((text) => positive('--nodes', text)))].sort((a, b) => a - b),
      seconds: positive('--seconds', values.seconds),
      rounds: positive('--rounds', values.rounds),
      only: subject(values.only),
      samples: positive('--samples', values.samples),
      watchers: positive('--watchers', values.watchers),
      minutes: positive('--minutes', values.minutes),
      seed: positive('--seed', values.seed),
      svg: values.svg,
      built: values.built,
      cluster: !values['no-cluster'],
      json: values.json,
    };
    return { kind: 'run', options };
  } catch (error) {
    return { kind: 'misuse', message: (error as Error).message };
  }
}

function positive(name: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`${name}: expected a positive whole number, not "${text}"`);
  return Number(text);
}

function subject(text: string | undefined): BenchOptions['only'] {
  const known = SUBJECTS.find((one) => one === text);
  if (text === undefined || known !== undefined) return known;
  throw new Error(`--only: expected one of ${SUBJECTS.join(', ')}, not "${text}"`);
}
