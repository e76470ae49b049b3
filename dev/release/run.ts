import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

/** Runs a program whose output is for people, in the folder `cwd`. Throws if it fails. */
export async function run(program: string, args: readonly string[], cwd = process.cwd()): Promise<void> {
  // Standard output is for what the step itself prints.
  const [code] = (await once(spawn(program, args, { cwd, stdio: ['ignore', 2, 2] }), 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ${args[0]} ended with ${code}; its messages are above`);
}

/** The text that a program prints on both outputs, without white space at the end. */
export async function textOf(program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, args);
  return (stdout + stderr).trimEnd();
}
