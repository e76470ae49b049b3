#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { type Command, HELP, type KeysRequest, nodeFault, parseCommand } from './cli/arguments.ts';
import { checkConfig } from './cli/check-config.ts';
import { lowerPoolPriority } from './cli/pool-priority.ts';
import type { Config, Warnings } from './config/config.ts';
import { configJsonSchema, loadConfig } from './config/load.ts';
import { BufferedOutput } from './observability/buffered-output.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { systemClock } from './runtime/clock.ts';
import { systemRandom } from './runtime/random.ts';
import { type Release, toRelease, toRuntime } from './service/versions.ts';
import { hashPassword, readNewPassword } from './users/password-hash.ts';

const EXIT_FAILED = 1;
const EXIT_MISUSE = 2;

/** By the shell's convention: 128 plus the number of the signal. */
const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;

/** The files of the package are beside `src` and beside `dist` alike. */
const packageFile = (name: string): URL => new URL(`../${name}`, import.meta.url);
const readPackageFile = (name: string): string => readFileSync(packageFile(name), 'utf8');
const readFile = (path: string): string => readFileSync(path, 'utf8');

function readRelease(): Release {
  const build = existsSync(packageFile('build.json')) ? readPackageFile('build.json') : undefined;
  return toRelease(readPackageFile('package.json'), build);
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs one command and returns the exit code. */
async function execute(command: Command): Promise<number> {
  switch (command.kind) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'version':
      print(`gatehouse v${readRelease().version}`);
      return 0;
    case 'config-schema':
      print(JSON.stringify(configJsonSchema(), undefined, 2));
      return 0;
    case 'hash-password':
      return printHash(command.config);
    case 'misuse':
      complain(`gatehouse: ${command.message}; see gatehouse --help`);
      return EXIT_MISUSE;
    case 'check-config':
      return printCheck(command.config);
    case 'keys':
      return changeKeys(command.request, loadConfig(command.config, readFile));
    case 'run':
      return serve(loadConfig(command.config, readFile));
  }
}

async function printCheck(config: string | undefined): Promise<number> {
  for (const warning of await checkConfig(config, readFile)) complain(`warning: ${warning}`);
  print('the configuration is good');
  return 0;
}

async function printHash(config: string | undefined): Promise<number> {
  const { passwordHash } = loadConfig(config, readFile).config.authentication;
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

async function serve({ config, warnings }: { config: Config; warnings: Warnings }): Promise<number> {
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
    // For people who read only the log; the plain line goes to standard error.
    logger.fatal(describe(error));
    throw error;
  } finally {
    await output.finish();
  }
}

async function runService(config: Config, logger: Logger, output: BufferedOutput): Promise<void> {
  const { createService } = await import('./service/service.ts');
  logger.debug({ threads: await lowerPoolPriority() }, 'hashing yields to serving');
  const service = await createService(config, {
    clock: systemClock,
    random: systemRandom,
    logger,
    lostLines: output.lost,
    memoryLimit: () => process.constrainedMemory(),
    release: readRelease(),
    runtime: toRuntime(process),
    environment: process.env,
    description: readPackageFile('api/platform.openapi.yaml'),
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

/** One clear line (or several, for a file with several problems), never a stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error && !message.includes(cause.message) ? `${message}: ${cause.message}` : message;
}

/** Errors in what the operator wrote (the configuration or a file that it names), not in the run. */
const MISUSES: readonly string[] = ['ConfigError', 'UsersFileError', 'ClusterAccessError', 'UnknownKeyError'];
const isMisuse = (error: unknown): boolean => error instanceof Error && MISUSES.includes(error.name);

async function main(): Promise<number> {
  const fault = nodeFault(process.version);
  if (fault !== undefined) {
    complain(`gatehouse: ${fault}`);
    return EXIT_MISUSE;
  }
  try {
    return await execute(parseCommand(process.argv.slice(2), process.env['GATEHOUSE_CONFIG']));
  } catch (error) {
    complain(`gatehouse: ${describe(error)}`);
    return isMisuse(error) ? EXIT_MISUSE : EXIT_FAILED;
  }
}

// The reader of our output may stop early (`| head`). That is no failure of ours.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const exitCode = await main();
// The process must be ended explicitly, because what a failed part has left open would keep it alive. Both outputs are
// written out first.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
