import { parseArgs } from 'node:util';
import { optionFault } from '../src/cli/option-fault.ts';
import { dnsLabel } from '../src/config/fields.ts';

export const DEMO_HELP = `Usage: npm run demo [-- options]

Runs Gatehouse on a simulated cluster in this process and prints commands to try. Its log goes to a file that it names.

Options:
  --nodes N           nodes of the cluster (default 12)
  --pods-per-node M   pods on each (default 8)
  --pod-changes R     changes of pods a second (default 1; 0: only nodes change)
  --port P            port of the API; metrics are on P + 1 (default 9090)
  --platform NAME     platform name (default gatehouse)
  --no-logs           no log store; log queries are answered 404 (default --logs: a store in memory, with what
                      the pods wrote in the last hours)
  --verbose           print the log here
  --config FILE       configuration merged over the demo's: maps deep, lists replaced
  --help              print this text and end
`;

export interface DemoOptions {
  readonly nodes: number;
  readonly podsPerNode: number;
  /** Changes of pods a second. */
  readonly podChanges: number;
  readonly port: number;
  readonly platform: string;
  /** Whether there is a log store. */
  readonly logs: boolean;
  /** Whether log lines go to standard output instead of a file. */
  readonly verbose: boolean;
  readonly config?: string;
}

const OPTIONS = {
  nodes: { type: 'string', default: '12' },
  'pods-per-node': { type: 'string', default: '8' },
  'pod-changes': { type: 'string', default: '1' },
  port: { type: 'string', default: '9090' },
  platform: { type: 'string', default: 'gatehouse' },
  logs: { type: 'boolean', default: true },
  verbose: { type: 'boolean', default: false },
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Bounds that keep a demo inside one process's memory, and its two ports inside the range. */
const MOST_NODES = 20_000;
const MOST_PODS_PER_NODE = 500;
const HIGHEST_PORT = 65_534;
/** Each change of a pod counts the pods of its deployment. */
const MOST_POD_CHANGES = 50;

/** Reads the demo's command line: options, `'help'`, or what is wrong with it. */
export function parseDemoArguments(args: readonly string[]): DemoOptions | 'help' | { readonly misuse: string } {
  try {
    const { values } = parseArgs({ args: withValues(args), options: OPTIONS, allowNegative: true });
    if (values.help) return 'help';
    return {
      nodes: whole('--nodes', values.nodes, { least: 0, most: MOST_NODES }),
      podsPerNode: whole('--pods-per-node', values['pods-per-node'], { least: 0, most: MOST_PODS_PER_NODE }),
      podChanges: whole('--pod-changes', values['pod-changes'], { least: 0, most: MOST_POD_CHANGES }),
      port: whole('--port', values.port, { least: 1, most: HIGHEST_PORT }),
      platform: label('--platform', values.platform),
      logs: values.logs,
      verbose: values.verbose,
      ...(values.config === undefined ? {} : { config: values.config }),
    };
  } catch (error) {
    return { misuse: optionFault(error as Error) };
  }
}

/** Turns `--nodes -1` into `--nodes=-1`, so that a negative number is refused as a value and not as an option. */
function withValues(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const option = joined.at(-1) ?? '';
    if (/^-\d/.test(arg) && /^--[a-z-]+$/.test(option)) joined.splice(-1, 1, `${option}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

function label(name: string, text: string): string {
  if (!dnsLabel.safeParse(text).success)
    throw new Error(`${name} wants lower-case letters, digits and "-", at most 63, not "${text}"`);
  return text;
}

function whole(name: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new Error(`${name} wants a whole number from ${least} to ${most}, not "${text}"`);
  return value;
}
