import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from './control-plane/clients.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The content of `/app` in the image, in a folder of this machine. */
export interface ImageApp {
  readonly folder: string;
  /** The arguments of Node.js in the image's entry point. */
  readonly program: readonly string[];
  remove(): Promise<void>;
}

/** Makes it in the same way as the Dockerfile. */
export async function makeImageApp(): Promise<ImageApp> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-app-'));
  await runTool(process.execPath, [join(ROOT, 'dev', 'build', 'main.ts'), '--out', join(folder, 'dist')]);
  for (const path of ['api', 'package.json', 'LICENSE'])
    await cp(join(ROOT, path), join(folder, path), { recursive: true });
  const build = { gitCommit: '0'.repeat(40), gitTreeState: 'clean', buildDate: '2026-01-01T00:00:00Z' };
  await writeFile(join(folder, 'build.json'), JSON.stringify(build));
  const program = (await entryPoint()).map((argument) => argument.replace(/^\/app/, folder));
  return { folder, program, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function entryPoint(): Promise<string[]> {
  const line = /^ENTRYPOINT (.*)$/m.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8'))?.[1] ?? '[]';
  return (JSON.parse(line) as string[]).slice(1);
}
