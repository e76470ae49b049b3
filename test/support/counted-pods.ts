import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const PROGRAM = join(import.meta.dirname, '..', 'cluster', 'tools', 'pod-usage');

/**
 * What the scheduler's own code (k8s.io/component-helpers, at the version of the program's go.mod) counts for each pod:
 * quantities in the order of `FIGURES`. It is compiled the first time, which takes a minute.
 */
export async function countedByScheduler(pods: readonly unknown[]): Promise<readonly (readonly string[])[]> {
  const options = { cwd: PROGRAM, env: { ...process.env, GOFLAGS: '-mod=readonly' } };
  const program = spawn('go', ['run', '.'], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(program, 'close');
  program.stdin.end(JSON.stringify(pods));
  const [rows, complaint, [code]] = await Promise.all([text(program.stdout), text(program.stderr), ended]);
  if (code !== 0) throw new Error(`tools/pod-usage ended with ${code}: ${complaint}`);
  return JSON.parse(rows) as string[][];
}
