import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

const PROJECT = join(import.meta.dirname, '..', '..', '..');

/** What the linter reads; the sources it judges are planted. */
const SETTINGS = ['biome.json', '.gitignore', 'lint'];

/** Where an import that the layer rules forbid stands. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

interface Report {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly message: string;
    readonly location: { readonly path: string; readonly start: { readonly line: number } };
  }[];
}

/**
 * Writes these files (path to lines) into a project that has nothing else of ours but the linter's settings, lints it as
 * `npm run lint` does, and answers what the layer rules found. The project is removed again.
 */
export async function lintPlanted(files: ReadonlyMap<string, readonly string[]>): Promise<Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-planted-'));
  try {
    for (const name of SETTINGS) cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
    for (const [path, lines] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), `${lines.join('\n')}\n`);
    }
    return layerFindings(await lint(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function lint(folder: string): Promise<Report> {
  const biome = join(PROJECT, 'node_modules', '.bin', 'biome');
  const args = ['lint', '--error-on-warnings', '--reporter=json', '--max-diagnostics=none'];
  const child = spawn(biome, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, problems] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (out === '') throw new Error(`the linter reported nothing: ${problems}`);
  return JSON.parse(out) as Report;
}

const LAYER_RULES = ['lint/style/noRestrictedImports', 'plugin'];

const layerFindings = ({ diagnostics }: Report): Finding[] =>
  diagnostics
    .filter(({ category }) => LAYER_RULES.includes(category))
    .map(({ location, message }) => ({ path: location.path, line: location.start.line, message }));
