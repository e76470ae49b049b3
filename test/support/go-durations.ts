import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { clusterTool } from './cluster-tools.ts';

/** What Go's own `time.ParseDuration` makes of each text: nanoseconds, or `null` where it refuses the text. */
export async function readByGo(texts: readonly string[]): Promise<readonly (string | null)[]> {
  const program = spawn(await clusterTool('goDurations'), { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(program, 'close');
  program.stdin.end(JSON.stringify(texts));
  const [rows, [code]] = await Promise.all([text(program.stdout), ended]);
  if (code !== 0) throw new Error(`tools/go-durations ended with ${code}`);
  return JSON.parse(rows) as (string | null)[];
}
