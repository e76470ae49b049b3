import { parseArgs } from 'node:util';
import { type ClientAction, type ClientRequest, isClientAction, parseClientRequest } from './login/login-arguments.ts';
import { optionFault } from './option-fault.ts';

/** What people ask of a server that is elsewhere, as the command line says it. */
export type ClientCommand =
  | { readonly kind: 'version' }
  /** `about`: of one command, else of all. */
  | { readonly kind: 'help'; readonly about?: ClientAction }
  | { readonly kind: 'client'; readonly request: ClientRequest }
  | { readonly kind: 'misuse'; readonly message: string; readonly about?: ClientAction };

const OPTIONS = {
  version: { type: 'boolean', short: 'v' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Reads the command line of the program that has these commands alone. Never throws. */
export function parseClientCommand(args: readonly string[]): ClientCommand {
  const [first, ...rest] = args;
  if (isClientAction(first)) return clientCommand(first, rest);
  // A command of the server is named before its options are looked at.
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

/** Reads the arguments after one of these commands. Never throws. */
export function clientCommand(about: ClientAction, args: readonly string[]): ClientCommand {
  try {
    const request = parseClientRequest(about, args);
    if ('isHelp' in request) return { kind: 'help', about };
    return 'fault' in request ? { kind: 'misuse', message: request.fault, about } : { kind: 'client', request };
  } catch (error) {
    return { kind: 'misuse', message: optionFault(error as NodeJS.ErrnoException), about };
  }
}
