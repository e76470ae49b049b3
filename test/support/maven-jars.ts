import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The Maven plug-in that copies jars, with its version, so that it is the same everywhere. */
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/**
 * Copies the jars in the pom.xml of a folder, and all their dependencies, into `lib`. `more` are arguments of Maven. Maven refuses a jar
 * whose checksum is not the published one.
 */
export async function copyJars(folder: string, lib: string, more: readonly string[] = []): Promise<void> {
  const args = ['--batch-mode', '--quiet', '--strict-checksums', `-DoutputDirectory=${lib}`, ...more, COPY];
  const run = promisify(execFile)('mvn', args, { cwd: folder, timeout: 300_000 });
  await run.catch((cause: NodeJS.ErrnoException & { readonly stdout?: string }) => {
    const advice = cause.code === 'ENOENT' ? 'there is no "mvn" on PATH; install Debian\'s maven' : cause.stdout;
    throw new Error(`cannot fetch the jars of ${folder}: ${advice}`, { cause });
  });
}
