import { parseArgs } from 'node:util';

export const HELP = `Usage: gatehouse [options]
       gatehouse hash-password

The API server in front of a Kubernetes cluster: sign in, and read its nodes from memory.

Options:
  --config FILE     configuration file (YAML); default: the GATEHOUSE_CONFIG variable, else every default
  --check-config    check the configuration, print what is wrong with it or that it is good, and end
  --config-schema   print the JSON Schema of the configuration file and end
  --version         print the version and end
  --help            print this text and end

Commands:
  hash-password     read a password from standard input, print its hash for the users file

Exit codes: 0 ended as asked, 1 failed while running, 2 wrong arguments or configuration
`;

/** What the command line asks for. */
export type Command =
  | { readonly kind: 'run' | 'check-config'; readonly config?: string }
  | { readonly kind: 'help' | 'version' | 'config-schema' | 'hash-password' }
  | { readonly kind: 'misuse'; readonly message: string };

const OPTIONS = {
  config: { type: 'string' },
  'check-config': { type: 'boolean' },
  'config-schema': { type: 'boolean' },
  version: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Reads the command line; `fallbackConfig` is the file that the environment names. Never throws. */
export function parseCommand(args: readonly string[], fallbackConfig: string | undefined): Command {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    if (values.help) return { kind: 'help' };
    if (values.version) return { kind: 'version' };
    if (values['config-schema']) return { kind: 'config-schema' };
    const [command, ...more] = positionals;
    if (command === 'hash-password' && more.length === 0) return { kind: 'hash-password' };
    if (command !== undefined) return { kind: 'misuse', message: `unknown command "${positionals.join(' ')}"` };
    const config = values.config ?? (fallbackConfig || undefined);
    const kind = values['check-config'] ? 'check-config' : 'run';
    return config === undefined ? { kind } : { kind, config };
  } catch (error) {
    return { kind: 'misuse', message: (error as Error).message };
  }
}
