#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { type Command, HELP, type KeysRequest, parseCommand } from './cli/arguments.ts';
import type { ClientAction, ClientRequest } from './cli/login/login-arguments.ts';
import { complain, EXIT_FAILED, EXIT_MISUSE, errorLine, print, runToEnd } from './cli/run-to-end.ts';
import type { UsersRequest } from './cli/users-arguments.ts';
import type { Config, Warnings } from './config/config.ts';
import type { BufferedOutput } from './observability/buffered-output.ts';
import type { Logger } from './observability/logger.ts';
import { systemClock } from './runtime/clock.ts';
import { createLoopLoad } from './runtime/loop-load.ts';
import { systemRandom } from './runtime/random.ts';
import { type Release, toRelease, toRuntime } from './service/versions.ts';

/** Exit codes as shells report them: 128 plus the number of the signal. */
const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;

/** The files of the package are beside `src` and beside `dist` alike. */
const packageFile = (name: string): URL => new URL(`../${name}`, import.meta.url);
const readPackageFile = (name: string): string => readFileSync(packageFile(name), 'utf8');
const readFile = (path: string): string => readFileSync(path, 'utf8');

function readRelease(): Release {
  const build = existsSync(packageFile('build.json')) ? readPackageFile('build.json') : undefined;
  return toRelease(readPackageFile('package.json'), build);
}

/** Each command loads only what it needs, because `gatehouse login` runs at every `kubectl` command. */
const loadConfigFile = async (path: string | undefined): Promise<{ config: Config; warnings: Warnings }> =>
  (await import('./config/load.ts')).loadConfig(path, readFile);

/** Runs one command and returns the exit code. */
async function execute(command: Command): Promise<number> {
  switch (command.kind) {
    case 'help':
      return printHelp(command.about);
    case 'version':
      print(`gatehouse v${readRelease().version}`);
      return 0;
    case 'config-schema':
      return printSchema();
    case 'hash-password':
      return printHash(command.config);
    case 'misuse':
      complain(`gatehouse: ${command.message}; see gatehouse ${command.about ? `${command.about} ` : ''}--help`);
      return EXIT_MISUSE;
    case 'client':
      return runClient(command.request);
    case 'check-config':
      return printCheck(command.config);
    case 'import-config':
      return importOld(command);
    case 'keys':
      return changeKeys(command.request, await loadConfigFile(command.config));
    case 'users':
      return changeUsers(command.request, await loadConfigFile(command.config));
    case 'run':
      return serve(await loadConfigFile(command.config));
    default:
      return command satisfies never;
  }
}

async function printHelp(about: ClientAction | undefined): Promise<number> {
  process.stdout.write(about === undefined ? HELP : (await import('./cli/login/login-help.ts')).CLIENT_HELP[about]);
  return 0;
}

async function printSchema(): Promise<number> {
  const { configJsonSchema } = await import('./config/load.ts');
  print(JSON.stringify(configJsonSchema(), undefined, 2));
  return 0;
}

async function printCheck(config: string | undefined): Promise<number> {
  const { checkConfig } = await import('./cli/check-config.ts');
  const parts = { readFile, environment: process.env };
  for (const warning of await checkConfig(config, parts)) complain(`warning: ${warning}`);
  print('the configuration is good');
  return 0;
}

async function importOld(request: Extract<Command, { kind: 'import-config' }>): Promise<number> {
  const { runImportCommand } = await import('./cli/import-config/import-command.ts');
  const write = (text: string): void => void process.stdout.write(text);
  await runImportCommand(request, { print: write, complain, readFile, readStandardInput: () => buffer(process.stdin) });
  return 0;
}

async function printHash(config: string | undefined): Promise<number> {
  const { readNewPassword } = await import('./users/new-password.ts');
  const { hashPassword } = await import('./users/password-hash.ts');
  const { passwordHash } = (await loadConfigFile(config)).config.authentication;
  if (process.stdin.isTTY) complain('Type the password (it is shown), then Enter and Ctrl-D:');
  const read = readNewPassword(await buffer(process.stdin));
  if ('fault' in read) {
    complain(`gatehouse: ${read.fault}`);
    return EXIT_MISUSE;
  }
  print(await hashPassword(read.password, passwordHash.cost));
  return 0;
}

async function changeKeys(request: KeysRequest, { config }: { config: Config }): Promise<number> {
  const { runKeysCommand } = await import('./cli/keys-command.ts');
  const { version } = readRelease();
  const { env: environment } = process;
  await runKeysCommand(request, config, { clock: systemClock, random: systemRandom, version, environment, print });
  return 0;
}

async function changeUsers(request: UsersRequest, { config }: { config: Config }): Promise<number> {
  const { runUsersCommand } = await import('./cli/users-command.ts');
  const { version } = readRelease();
  const { env: environment } = process;
  const readPassword = (): Promise<Buffer> => {
    if (process.stdin.isTTY) complain('Type the password (it is shown), then Enter and Ctrl-D:');
    return buffer(process.stdin);
  };
  const parts = { clock: systemClock, random: systemRandom, version, environment, print, readPassword, readFile };
  await runUsersCommand(request, config, parts);
  return 0;
}

/** Signs in or out at a running server, or prints a kubeconfig for it. */
async function runClient(request: ClientRequest): Promise<number> {
  const { runClientCommand } = await import('./cli/login/client-command.ts');
  const { partsOfThisProcess } = await import('./cli/login/this-process.ts');
  await runClientCommand(request, partsOfThisProcess({ print, complain }));
  return 0;
}

async function serve({ config, warnings }: { config: Config; warnings: Warnings }): Promise<number> {
  const { BufferedOutput } = await import('./observability/buffered-output.ts');
  const { createLogger } = await import('./observability/logger.ts');
  const output = new BufferedOutput(process.stdout.fd, (lines) =>
    logger.warn({ lines }, 'log lines were lost: nobody read the output'),
  );
  process.on('exit', () => output.flushSync());
  const logger = createLogger(config.log, output);
  for (const warning of warnings) logger.warn(warning);
  endOnBugs(logger);
  try {
    await runService(config, logger, output);
    logger.info('ended');
    return 0;
  } catch (error) {
    // For readers of the log. Standard error gets the plain line.
    logger.fatal(errorLine(error));
    throw error;
  } finally {
    await output.finish();
  }
}

async function runService(config: Config, logger: Logger, output: BufferedOutput): Promise<void> {
  const { createService } = await import('./service/service.ts');
  const { readPageFiles } = await import('./service/page.ts');
  const { lowerPoolPriority } = await import('./cli/pool-priority.ts');
  logger.debug({ threads: await lowerPoolPriority() }, 'hashing yields to serving');
  const service = await createService(config, {
    clock: systemClock,
    loopLoad: createLoopLoad(systemClock),
    random: systemRandom,
    logger,
    lostLines: output.lost,
    memoryLimit: () => process.constrainedMemory(),
    release: readRelease(),
    runtime: toRuntime(process),
    environment: process.env,
    description: readPackageFile('api/platform.openapi.yaml'),
    crdDescription: readPackageFile('api/crd.openapi.yaml'),
    page: config.page.enabled ? readPageFiles(packageFile('dist/page/')) : undefined,
  });
  await service.run(signalOfTheProcess(logger));
}

/** Aborts at SIGTERM, for an orderly end; SIGINT, or a second signal, ends the process at once. */
function signalOfTheProcess(logger: Logger): AbortSignal {
  const stop = new AbortController();
  const atOnce = (name: keyof typeof SIGNAL_EXIT): void => process.exit(SIGNAL_EXIT[name]);
  process.on('SIGINT', () => atOnce('SIGINT'));
  process.on('SIGTERM', () => {
    if (stop.signal.aborted) atOnce('SIGTERM');
    logger.info('stopping');
    stop.abort();
  });
  return stop.signal;
}

/**
 * Ends the process at an unhandled rejection or an uncaught exception: it is a bug, and a new process is better than a
 * half-broken one.
 */
function endOnBugs(logger: Logger): void {
  const end = (error: unknown): void => {
    logger.fatal({ err: error }, 'a bug ended the process');
    process.exit(EXIT_FAILED);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}

/** Errors in what the operator wrote (the configuration or a file that it names), not in the run. */
const MISUSES: readonly string[] = [
  'ConfigError',
  'ImportError',
  'UsersFileError',
  'UserRequestError',
  'ClusterAccessError',
  'UnknownKeyError',
];
const isMisuse = (error: unknown): boolean => error instanceof Error && MISUSES.includes(error.name);

await runToEnd(() => execute(parseCommand(process.argv.slice(2), process.env['GATEHOUSE_CONFIG'])), isMisuse);
