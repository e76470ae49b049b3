import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { lockedPackages, manifestOf, neededFolders } from './packages.ts';

/** A package that is not bundled, because it loads a binary. */
export const NATIVE = '@node-rs/bcrypt';

interface Place {
  readonly root: string;
  /** The `node_modules` of the image. */
  readonly modules: string;
  /** The processor, in the words of images (amd64, arm64); empty: that of this machine. */
  readonly arch: string;
}

/** Copies the native package, and the package with its binary. The program finds both from its own folder. */
export async function copyNative({ root, modules, arch }: Place): Promise<readonly string[]> {
  const installed = join(root, 'node_modules', NATIVE);
  const { optionalDependencies: binaries = {} } = manifestOf(installed);
  await copyPackage(installed, join(modules, NATIVE));
  const copied = [join(modules, NATIVE)];
  if (arch) {
    const name = `${NATIVE}-linux-${arch.replace('amd64', 'x64')}-gnu`;
    if (!binaries[name]) throw new Error(`${NATIVE} has no binary for the processor ${arch}`);
    await unpackLocked(name, { root, folder: join(modules, name) });
    copied.push(join(modules, name));
  } else {
    for (const from of neededFolders(installed, binaries)) {
      const to = join(modules, relative(join(root, 'node_modules'), from));
      await copyPackage(from, to);
      copied.push(to);
    }
  }
  return copied;
}

const copyPackage = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, filter: (path) => !/\.(d\.ts|md)$/.test(path) });

/** What `npm pack --json` reports about an archive. */
interface Packed {
  readonly filename: string;
  readonly integrity: string;
}

/** Downloads a package, because `npm ci` installs only those for this machine. Throws unless it is the archive in the lock file. */
export async function unpackLocked(name: string, { root, folder }: { root: string; folder: string }): Promise<void> {
  const { version, integrity } = lockedPackages(root)[`node_modules/${name}`] ?? {};
  const run = promisify(execFile);
  const downloads = await mkdtemp(join(tmpdir(), 'gatehouse-build-'));
  try {
    const { stdout } = await run('npm', ['pack', `${name}@${version}`, '--json', '--pack-destination', downloads]);
    // An array up to npm 11, an object by the package's name since npm 12.
    const [packed] = Object.values(JSON.parse(stdout) as Record<string, Packed>);
    if (!packed || packed.integrity !== integrity) throw new Error(`${name} is not the archive of the lock file`);
    await mkdir(folder, { recursive: true });
    const archive = join(downloads, packed.filename);
    await run('tar', ['-xzf', archive, '-C', folder, '--strip-components=1', '--no-same-owner', '--exclude=*.md']);
  } finally {
    await rm(downloads, { recursive: true, force: true });
  }
}
