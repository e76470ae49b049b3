import { parseArgs } from 'node:util';
import { type ClientAction, type ClientRequest, isClientAction, parseClientRequest } from './login/login-arguments.ts';
import { optionFault } from './option-fault.ts';

/** The parsed command line of the commands that act on a server running elsewhere. */
export type ClientCommand =
  | { readonly kind: 'version' }
  /** The help of the command `about`; without it, of all commands. */
  | { readonly kind: 'help'; readonly about?: ClientAction }
  | { readonly kind: 'client'; readonly request: ClientRequest }
  | { readonly kind: 'misuse'; readonly message: string; readonly about?: ClientAction };

const OPTIONS = {
  version: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Parses the command line of the program that has only these commands. Never throws. */
export function parseClientCommand(args: readonly string[]): ClientCommand {
  const [first, ...rest] = args;
  if (isClientAction(first)) return clientCommand(first, rest);
  // A wrong command is reported first: its options (those of the server's commands) would all be unknown here.
  if (first !== undefined && !first.startsWith('-'))
    return { kind: 'misuse', message: `"${first}" is not one of login, logout and kubeconfig` };
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    if (values.help) return { kind: 'help' };
    if (values.version) return { kind: 'version' };
    return { kind: 'misuse', message: 'login, logout or kubeconfig comes first' };
  } catch (error) {
    return { kind: 'misuse', message: optionFault(error as NodeJS.ErrnoException) };
  }
}

/** Parses the arguments after one of these commands. Never throws. */
export function clientCommand(about: ClientAction, args: readonly string[]): ClientCommand {
  try {
    const request = parseClientRequest(about, args);
    if ('isHelp' in request) return { kind: 'help', about };
    return 'fault' in request ? { kind: 'misuse', message: request.fault, about } : { kind: 'client', request };
  } catch (error) {
    return { kind: 'misuse', message: optionFault(error as NodeJS.ErrnoException), about };
  }
}
