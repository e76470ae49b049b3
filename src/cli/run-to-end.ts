/** The exit codes besides 0, as the help lists them. */
export const EXIT_FAILED = 1;
export const EXIT_MISUSE = 2;

/** The oldest release with all the features that we use. */
const OLDEST_NODE = 24;

/**
 * Runs `execute`, prints what it throws to standard error, and ends the process with the exit code that it resolves to.
 * `isMisuse` says whether an error is about the arguments or the configuration: the exit code is then 2, not 1.
 */
export async function runToEnd(
  execute: () => Promise<number>,
  isMisuse: (error: unknown) => boolean = () => false,
): Promise<void> {
  // The reader of our output may stop early (`| head`). That is not an error.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const exitCode = await exitCodeOf(execute, isMisuse);
  // The process must be ended explicitly, because sockets and timers that a failed part left open would keep it alive. Both
  // outputs are flushed first.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
}

async function exitCodeOf(execute: () => Promise<number>, isMisuse: (error: unknown) => boolean): Promise<number> {
  const fault = nodeFault(process.version);
  if (fault !== undefined) {
    complain(`gatehouse: ${fault}`);
    return EXIT_MISUSE;
  }
  try {
    return await execute();
  } catch (error) {
    complain(`gatehouse: ${errorLine(error)}`);
    return isMisuse(error) ? EXIT_MISUSE : EXIT_FAILED;
  }
}

/** Writes a line to standard output. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);
/** Writes a line to standard error. */
export const complain = (line: string): void => void process.stderr.write(`${line}\n`);

/** Why this release of Node.js cannot run Gatehouse, or `undefined` when it can. `version` is `process.version`. */
export function nodeFault(version: string): string | undefined {
  const major = Number(/^v(\d+)\./.exec(version)?.[1]);
  return major >= OLDEST_NODE ? undefined : `needs Node ${OLDEST_NODE} or later, this is ${version}`;
}

/** The message of the error and of its cause: one line, or several for a file with several problems; never a stack. */
export function errorLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error && !message.includes(cause.message) ? `${message}: ${cause.message}` : message;
}
