import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..');
export const RULES_FILE = join(ROOT, 'charts', 'gatehouse', 'files', 'rules.yaml');

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RulesFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** The alerts of the chart's rules file, in its order. */
export const shippedRules = (): readonly Rule[] =>
  (parse(readFileSync(RULES_FILE, 'utf8')) as RulesFile).groups.flatMap(({ rules }) => rules);

/** Runs promtool; resolves with its exit code and all that it wrote. */
export function promtool(
  args: readonly string[],
  input = '',
): Promise<{ readonly code: number; readonly text: string }> {
  return new Promise((resolve) => {
    const child = execFile('promtool', args, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, text: stdout + stderr + (child.pid ? '' : String(error)) }),
    );
    child.stdin?.on('error', () => {}); // it may have ended already
    child.stdin?.end(input);
  });
}
