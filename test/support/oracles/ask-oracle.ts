import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { json, text } from 'node:stream/consumers';
import { type ClusterTools, clusterTool } from '../cluster-tools.ts';

/** Sends the cases as JSON to a program with Kubernetes' own code, and reads an answer for each. Default `env`: that of this process. */
export async function askOracle<Answer>(
  tool: keyof ClusterTools,
  cases: readonly unknown[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Answer[]> {
  const program = spawn(await clusterTool(tool), { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(program, 'close');
  program.stdin.on('error', () => undefined); // the program's own message says more
  program.stdin.end(JSON.stringify(cases));
  const [answers, complaint, [code]] = await Promise.all([
    json(program.stdout).catch(() => undefined),
    text(program.stderr),
    ended,
  ]);
  if (code !== 0 || !Array.isArray(answers)) throw new Error(`${tool} ended with ${code}: ${complaint}`);
  if (answers.length !== cases.length)
    throw new Error(`${tool} gave ${answers.length} answers to ${cases.length} cases`);
  return answers as Answer[];
}
