#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { getAsset, isSea } from 'node:sea';
import { type ClientCommand, parseClientCommand } from './cli/client-arguments.ts';
import { runClientCommand } from './cli/login/client-command.ts';
import type { ClientAction } from './cli/login/login-arguments.ts';
import { partsOfThisProcess } from './cli/login/this-process.ts';
import { complain, EXIT_MISUSE, print, runToEnd } from './cli/run-to-end.ts';

/** Runs one command and returns the exit code. */
async function execute(command: ClientCommand): Promise<number> {
  switch (command.kind) {
    case 'help':
      return printHelp(command.about);
    case 'version':
      print(`gatehouse v${ownVersion()}`);
      return 0;
    case 'misuse':
      complain(`gatehouse: ${command.message}; see gatehouse ${command.about ? `${command.about} ` : ''}--help`);
      return EXIT_MISUSE;
    case 'client':
      await runClientCommand(command.request, partsOfThisProcess({ print, complain }));
      return 0;
    default:
      return command satisfies never;
  }
}

async function printHelp(about: ClientAction | undefined): Promise<number> {
  const { CLIENT_HELP, CLIENTS_HELP } = await import('./cli/login/login-help.ts');
  process.stdout.write(about === undefined ? CLIENTS_HELP : CLIENT_HELP[about]);
  return 0;
}

/** The version of the package. Its `package.json` is beside `src` and beside `dist`, or inside the single file. */
function ownVersion(): string {
  const file = 'package.json';
  const text = isSea() ? getAsset(file, 'utf8') : readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

// Not `await`: the bundler then leaves what every command needs in one file.
void runToEnd(() => execute(parseClientCommand(process.argv.slice(2))));
