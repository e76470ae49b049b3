import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { baseArchives } from './base-archives.ts';
import { type Builder, withBuilder } from './builder.ts';
import { kept } from './kept.ts';
import { unpackPackages } from './packages.ts';

const ROOT = resolve(import.meta.dirname, '..', '..', '..');

/** The repository that stands for the registry of the README. */
export const REPOSITORY = 'localhost/gatehouse';
/** The next release: the same program, whose /version names another commit. */
export const NEXT = { tag: '0.1.1-next', gitCommit: 'f'.repeat(40) };
/** The commit that /version of the image names. */
const GIT_COMMIT = '0123456789abcdef0123456789abcdef01234567';
/** A static busybox, which sleeps unless told otherwise: the image of a pod's sandbox, and of pods that are clients. */
export const BUSYBOX = 'localhost/busybox:1';

/** The archives of all images, ready to be imported. They are built where they are missing; that needs the package registries. */
export async function imageArchives(): Promise<string[]> {
  const folder = await kept('node-images', await sourceMark(), buildImages);
  return (await readdir(folder)).map((file) => join(folder, file));
}

/** A hash over everything that the images are made from. */
async function sourceMark(): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  for (const path of await sources()) hash.update(`${path}\n`).update(await readFile(join(ROOT, path)));
  return hash.digest('hex').slice(0, 16);
}

async function sources(): Promise<string[]> {
  const ignored = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n');
  const sent = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const whole = sent.filter((path) => !ignored.includes(`${path}/*`));
  const patterns = [...whole, ...whole.map((path) => `${path}/**`), 'Dockerfile', '.dockerignore', 'test/node/image/*'];
  const found = globSync(patterns, { cwd: ROOT });
  const files = await Promise.all(found.map(async (path) => ((await stat(join(ROOT, path))).isFile() ? [path] : [])));
  return [...new Set(files.flat())].toSorted();
}

async function buildImages(folder: string): Promise<void> {
  await withBuilder(async (builder, scratch) => {
    await buildBusybox(builder, join(scratch, 'busybox'));
    await builder.save(BUSYBOX, join(folder, 'busybox.tar'));
    for (const { name, file } of await baseArchives()) await builder.load(name, file);
    const { name } = await release();
    await builder.build(name, ROOT, ['--build-arg', `GIT_COMMIT=${GIT_COMMIT}`]);
    await builder.save(name, join(folder, 'gatehouse.tar'));
    await buildNext(builder, { from: name, folder: join(scratch, 'next') });
    await builder.save(`${REPOSITORY}:${NEXT.tag}`, join(folder, 'next.tar'));
  });
}

/** The image that the chart names by default, but for its registry. */
async function release(): Promise<{ readonly name: string; readonly version: string }> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return { name: `${REPOSITORY}:${version}`, version };
}

async function buildBusybox(builder: Builder, folder: string): Promise<void> {
  await unpackPackages(['busybox-static'], join(folder, 'package'));
  await cp(join(folder, 'package/bin/busybox'), join(folder, 'busybox'));
  const lines = [
    'FROM scratch',
    'COPY busybox /bin/busybox',
    'USER 65532:65532',
    'ENTRYPOINT ["/bin/busybox", "sleep", "2147483647"]',
  ];
  await writeFile(join(folder, 'Dockerfile'), `${lines.join('\n')}\n`);
  await builder.build(BUSYBOX, folder);
}

async function buildNext(builder: Builder, { from, folder }: { from: string; folder: string }): Promise<void> {
  await mkdir(folder);
  const build = { gitCommit: NEXT.gitCommit, gitTreeState: 'clean', buildDate: '2026-01-01T00:00:00Z' };
  await writeFile(join(folder, 'build.json'), JSON.stringify(build));
  await writeFile(join(folder, 'Dockerfile'), `FROM ${from}\nCOPY build.json /app/build.json\n`);
  await builder.build(`${REPOSITORY}:${NEXT.tag}`, folder);
}
