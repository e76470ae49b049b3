import { parseArgs } from 'node:util';

export const HELP = `Usage: gatehouse [--config FILE]
       gatehouse --check-config [--config FILE]
       gatehouse hash-password [--config FILE]
       gatehouse keys list|rotate|revoke [--config FILE]

The API server in front of a Kubernetes cluster: sign in, and read its nodes from memory.

Options:
  --config FILE     configuration file (YAML); default: the GATEHOUSE_CONFIG variable, else every default
  --check-config    check the configuration and the files it names, print every problem or that it is good, and end
  --config-schema   print the JSON Schema of the configuration file and end
  -v, --version     print the version and end
  -h, --help        print this text and end

Commands:
  hash-password     read a password from standard input, print its hash for the users file, as costly as the
                    configuration says
  keys list         print the signing keys: kid, state, since when, age
  keys rotate       publish the next signing key; a replica makes it the active one after 15 minutes
    --now           make it the active one at once: verifiers that cache the keys may refuse its tokens for 5 minutes
  keys revoke KID   refuse this signing key and all its tokens; if it was the active one, another one takes over at once
                    (keys works on the Secret in the cluster that the configuration names, even while it is in use)

Environment:
  GATEHOUSE_CONFIG  the configuration file when there is no --config
  KUBECONFIG        how to reach the cluster, outside of one, unless kubernetes.kubeconfig is set

Exit codes: 0 success, 1 failed while running, 2 wrong arguments or configuration
`;

/** The request of the command line. */
export type Command =
  | { readonly kind: 'run' | 'check-config' | 'hash-password'; readonly config?: string }
  | { readonly kind: 'help' | 'version' | 'config-schema' }
  | { readonly kind: 'keys'; readonly request: KeysRequest; readonly config?: string }
  | { readonly kind: 'misuse'; readonly message: string };

const OPTIONS = {
  config: { type: 'string' },
  'check-config': { type: 'boolean' },
  'config-schema': { type: 'boolean' },
  now: { type: 'boolean' },
  version: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Reads the command line; `fallbackConfig` is the file that the environment names. Never throws. */
export function parseCommand(args: readonly string[], fallbackConfig: string | undefined): Command {
  try {
    const { values, positionals } = parseArgs({ args: kidsLast(args), options: OPTIONS, allowPositionals: true });
    if (values.help) return { kind: 'help' };
    if (values.version) return { kind: 'version' };
    if (values['config-schema']) return { kind: 'config-schema' };
    const config = values.config ?? (fallbackConfig || undefined);
    const named = config === undefined ? {} : { config };
    const [command, ...more] = positionals;
    if (command === 'keys') return keysCommand(parseKeysRequest(more, values.now ?? false), named);
    if (values.now) return { kind: 'misuse', message: '--now goes with keys rotate only' };
    if (command === 'hash-password' && more.length === 0) return { kind: 'hash-password', ...named };
    if (command !== undefined) return { kind: 'misuse', message: `unknown command "${positionals.join(' ')}"` };
    return { kind: values['check-config'] ? 'check-config' : 'run', ...named };
  } catch (error) {
    return { kind: 'misuse', message: optionFault(error as NodeJS.ErrnoException) };
  }
}

const keysCommand = (request: ReturnType<typeof parseKeysRequest>, named: { readonly config?: string }): Command =>
  'fault' in request ? { kind: 'misuse', message: request.fault } : { kind: 'keys', request, ...named };

/** The error of `parseArgs` in one line, without its advice on how to pass a text that looks like an option. */
export function optionFault({ code, message }: NodeJS.ErrnoException): string {
  const [, option = ''] = /'(?:-\w, )?(--?[^\s'<]+)/.exec(message) ?? [];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `unknown option ${option}`;
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE')
    return message.includes('does not take') ? `${option} takes no value` : `${option} needs a value`;
  return message.split('\n', 1)[0] ?? '';
}

/** The oldest release with all the features that we use. */
const OLDEST_NODE = 24;

/** Why this release of Node.js cannot run Gatehouse, or `undefined` when it can. `version` is `process.version`. */
export function nodeFault(version: string): string | undefined {
  const major = Number(/^v(\d+)\./.exec(version)?.[1]);
  return major >= OLDEST_NODE ? undefined : `needs Node ${OLDEST_NODE} or later, this is ${version}`;
}

/** An operator's request about the signing keys. */
export type KeysRequest =
  | { readonly action: 'list' }
  /** `isNow`: the next key signs at once, not 15 minutes after its publication. */
  | { readonly action: 'rotate'; readonly isNow: boolean }
  | { readonly action: 'revoke'; readonly kid: string };

/** Reads the arguments after `keys`; `isNow` says whether `--now` was given. */
function parseKeysRequest(
  [action, ...more]: readonly string[],
  isNow: boolean,
): KeysRequest | { readonly fault: string } {
  const [kid, ...rest] = more;
  if (isNow && action !== 'rotate') return { fault: '--now goes with keys rotate only' };
  if (action === 'list' && kid === undefined) return { action };
  if (action === 'rotate' && kid === undefined) return { action, isNow };
  if (action !== 'revoke') return { fault: 'keys is followed by list, rotate or revoke KID, and nothing else' };
  return kid === undefined || rest.length > 0 ? { fault: 'keys revoke needs the kid of one key' } : { action, kid };
}

/** One in 64 thumbprints (RFC 7638, 43 characters) begins with "-". No option of ours looks like one. */
const isKid = (argument: string): boolean => /^-[\w-]{42}$/.test(argument);

/** Reorders the arguments so that no kid can be taken for an option. */
function kidsLast(args: readonly string[]): string[] {
  const kids = args.filter(isKid);
  return kids.length === 0 ? [...args] : [...args.filter((argument) => !isKid(argument)), '--', ...kids];
}
