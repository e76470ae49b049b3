import { parseArgs } from 'node:util';
import { type ClientCommand, clientCommand } from './client-arguments.ts';
import { isClientAction } from './login/login-arguments.ts';
import { optionFault } from './option-fault.ts';
import { parseUsersRequest, type UsersOptions, type UsersRequest } from './users-arguments.ts';

export const HELP = `Usage: gatehouse [--config FILE]
       gatehouse --check-config [--config FILE]
       gatehouse hash-password [--config FILE]
       gatehouse keys list|rotate|revoke [--config FILE]
       gatehouse users list|create|disable|enable|unlock|set-password|import [--config FILE]
       gatehouse import-config FILE [--chart] [--secrets DIR]
       gatehouse login|logout|kubeconfig --server URL [options]

The API server in front of a Kubernetes cluster: sign in, and read its nodes from memory.

Options:
  --config FILE     configuration file (YAML); default: $GATEHOUSE_CONFIG, else the built-in defaults
  --check-config    check the configuration and the files it names, print every problem, and exit
  --config-schema   print the JSON Schema of the configuration file and exit
  -v, --version     print the version and exit
  -h, --help        print this text and exit

Commands:
  hash-password     read a password from standard input, print its hash for the users file, with the cost that the
                    configuration sets
  keys list         print the signing keys: kid, state, since when, age
  keys rotate       publish the next signing key; a replica makes it the active one after 15 minutes
    --now           make it the active one at once: verifiers that cache the keys may refuse its tokens for 5 minutes
  keys revoke KID   refuse this signing key and all its tokens; if it was the active one, another one takes over at once
                    (keys reads and writes the Secret in the cluster that the configuration names; servers may be running)
  users list        print the users that are objects of the cluster: name, e-mail, state, role, last sign-in
  users create NAME [--email ADDRESS] [--group GROUP]... [--role ROLE]
                    create a user with the password read from standard input; empty input: a user without a password
  users disable|enable|unlock NAME
                    disable: end the user's sessions and refuse sign-ins; enable: allow sign-ins again;
                    unlock: lift the lock that failed attempts have set
  users set-password NAME
                    set a password, which is read from standard input
  users import FILE create User objects for the users in a users file; without --apply, print what would be done
    --apply         create them
                    (users writes to the cluster that the configuration names, with your rights; no server has to run,
                    and a running one sees the change within seconds)
  import-config FILE
                    print a configuration made from one of KubeSphere 3.1 to 4.0: its kubesphere.yaml, or the ConfigMap
                    with it; "-" reads standard input. Comments say what became of each setting; nothing secret is printed
    --chart         print values of the Helm chart instead
    --secrets DIR   write the secrets of the old file into files of this directory, which the configuration names
  login             sign in at a running server, by hand or for kubectl, which runs it (credential plug-in)
  logout            end that session
  kubeconfig        print a kubeconfig that points to a running server and signs in with login
                    (gatehouse login --help, and so on, prints their options)

Environment:
  GATEHOUSE_CONFIG  the configuration file when there is no --config
  KUBECONFIG        the kubeconfig to use outside a cluster when kubernetes.kubeconfig is not set

Exit codes: 0 success, 1 failed while running, 2 wrong arguments or configuration
`;

/** The request of the command line. */
export type Command =
  | ClientCommand
  | { readonly kind: 'run' | 'check-config' | 'hash-password'; readonly config?: string }
  | { readonly kind: 'config-schema' }
  /** `file` is `-` for standard input. `secrets` is the directory for files with secrets. `chart`: values of the Helm chart are wanted. */
  | { readonly kind: 'import-config'; readonly file: string; readonly secrets?: string; readonly chart?: true }
  | { readonly kind: 'keys'; readonly request: KeysRequest; readonly config?: string }
  | { readonly kind: 'users'; readonly request: UsersRequest; readonly config?: string };

const OPTIONS = {
  config: { type: 'string' },
  'check-config': { type: 'boolean' },
  'config-schema': { type: 'boolean' },
  now: { type: 'boolean' },
  email: { type: 'string' },
  group: { type: 'string', multiple: true },
  role: { type: 'string' },
  apply: { type: 'boolean' },
  secrets: { type: 'string' },
  chart: { type: 'boolean' },
  version: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Parses the command line; `fallbackConfig` is the file that the environment names. Never throws. */
export function parseCommand(args: readonly string[], fallbackConfig: string | undefined): Command {
  const [first, ...rest] = args;
  if (isClientAction(first)) return clientCommand(first, rest);
  try {
    const { values, positionals } = parseArgs({ args: kidsLast(args), options: OPTIONS, allowPositionals: true });
    if (values.help) return { kind: 'help' };
    if (values.version) return { kind: 'version' };
    if (values['config-schema']) return { kind: 'config-schema' };
    const config = values.config ?? (fallbackConfig || undefined);
    const named = config === undefined ? {} : { config };
    const [command, ...more] = positionals;
    if (command !== 'users' && hasUsersOption(values))
      return { kind: 'misuse', message: '--email, --group, --role and --apply go with users only' };
    if (command === 'import-config') return importCommand(more, values);
    if (values.secrets !== undefined || values.chart)
      return { kind: 'misuse', message: '--secrets and --chart go with import-config only' };
    if (command === 'keys') return keysCommand(parseKeysRequest(more, values.now ?? false), named);
    if (values.now) return { kind: 'misuse', message: '--now goes with keys rotate only' };
    if (command === 'users') return usersCommand(parseUsersRequest(more, values), named);
    if (command === 'hash-password' && more.length === 0) return { kind: 'hash-password', ...named };
    if (isClientAction(command)) return { kind: 'misuse', message: `${command} comes first: gatehouse ${command} …` };
    if (command !== undefined) return { kind: 'misuse', message: `unknown command "${positionals.join(' ')}"` };
    return { kind: values['check-config'] ? 'check-config' : 'run', ...named };
  } catch (error) {
    return { kind: 'misuse', message: optionFault(error as NodeJS.ErrnoException) };
  }
}

const keysCommand = (request: ReturnType<typeof parseKeysRequest>, named: { readonly config?: string }): Command =>
  'fault' in request ? { kind: 'misuse', message: request.fault } : { kind: 'keys', request, ...named };

const usersCommand = (request: ReturnType<typeof parseUsersRequest>, named: { readonly config?: string }): Command =>
  'fault' in request ? { kind: 'misuse', message: request.fault } : { kind: 'users', request, ...named };

function importCommand(
  [file, ...more]: readonly string[],
  { secrets, chart }: { readonly secrets?: string | undefined; readonly chart?: boolean | undefined },
): Command {
  if (file === undefined || more.length > 0)
    return { kind: 'misuse', message: 'import-config needs one FILE, or "-" for standard input' };
  return { kind: 'import-config', file, ...(secrets !== undefined && { secrets }), ...(chart && { chart: true }) };
}

const hasUsersOption = ({ email, group, role, apply }: UsersOptions): boolean =>
  [email, group, role, apply].some((value) => value !== undefined);

/** An operator's request about the signing keys. */
export type KeysRequest =
  | { readonly action: 'list' }
  /** With `isNow`, the next key signs at once and not 15 minutes after its publication. */
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

/** A kid is a thumbprint (RFC 7638) of 43 characters; one in 64 begins with "-". No option of ours has this form. */
const isKid = (argument: string): boolean => /^-[\w-]{42}$/.test(argument);

/** Reorders the arguments so that no kid can be taken for an option. */
function kidsLast(args: readonly string[]): string[] {
  const kids = args.filter(isKid);
  return kids.length === 0 ? [...args] : [...args.filter((argument) => !isKid(argument)), '--', ...kids];
}
