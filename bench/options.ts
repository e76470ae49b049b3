import { parseArgs } from 'node:util';

export const HELP = `Usage: npm run bench -- [options]

Measures Gatehouse side by side with a bare node:http server that sends the same bytes, and with a real kube-apiserver
where it is built (npm run tools:build). Tables go to standard output, progress to standard error.

Options:
  --nodes LIST     numbers of nodes, 12 kB each; default: 100,1000
  --seconds N      measured seconds for each peer, coding and round, after 1 s of warm-up; default: 3
  --rounds N       rounds, each with all peers in turn; default: 3
  --no-cluster     leave the real kube-apiserver out
  --json           print one JSON object instead of tables
  --help           print this text and end
`;

export interface BenchOptions {
  /** Ascending, each once. */
  readonly nodes: readonly number[];
  readonly seconds: number;
  readonly rounds: number;
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
