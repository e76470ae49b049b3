import { parseArgs } from 'node:util';

export const HELP = `Usage: npm run bench -- [options]

Measures Gatehouse's lists side by side with a bare node:http server that sends the same bytes, and with a real
kube-apiserver where it is built (npm run tools:build); then its sign-ins: what a flood of them leaves of the list, whether
time tells a known name, how many it makes. Tables go to standard output, progress to standard error.

Options:
  --only WHAT      lists or sign-in; default: both
  --nodes LIST     numbers of nodes, 12 kB each; default: 100,1000
  --seconds N      measured seconds for each peer, coding and round, after 1 s of warm-up; default: 3
  --rounds N       rounds, each with all peers in turn; default: 3
  --samples N      sign-ins with a known and with an unknown name, of each; default: 200, which takes half a minute
  --no-cluster     leave the real kube-apiserver out
  --json           print one JSON object instead of tables
  --help           print this text and end
`;

export interface BenchOptions {
  /** Ascending, each once. */
  readonly nodes: readonly number[];
  readonly seconds: number;
  readonly rounds: number;
  readonly only: 'lists' | 'sign-in' | undefined;
  readonly samples: number;
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
  if (text === undefined || text === 'lists' || text === 'sign-in') return text;
  throw new Error(`--only: expected lists or sign-in, not "${text}"`);
}
