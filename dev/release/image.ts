import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IMAGE_FILE, type Place, type PushedImage, sbomFile } from './place.ts';
import { run, textOf } from './run.ts';

const ARCHITECTURES = ['amd64', 'arm64'] as const;

/** Builds the image for each processor, pushes all under one tag, and writes digests and bills of materials into `out`. */
export async function publishImage(place: Place): Promise<PushedImage> {
  const { root, out, registry, version } = place;
  const repository = `${registry}/gatehouse`;
  const build = await buildArguments(root);
  const platforms: Record<string, string> = {};
  for (const arch of ARCHITECTURES) {
    const name = `${repository}:${version}-${arch}`;
    const how = ['--layers', '--format', 'oci', '--platform', `linux/${arch}`, ...build];
    await run('buildah', ['build', ...how, '--tag', name, root]);
    platforms[arch] = `${repository}@${await push(['push'], name, place)}`;
    await writeSbom(place, arch);
  }
  const list = `${repository}:${version}`;
  await run('buildah', ['manifest', 'create', list]);
  // The digests are those in the registry, because a push may compress layers again.
  for (const [arch, image] of Object.entries(platforms))
    await run('buildah', [
      'manifest',
      'add',
      ...tls(place),
      '--os',
      'linux',
      '--arch',
      arch,
      list,
      `docker://${image}`,
    ]);
  const pushed = { image: `${repository}@${await push(['manifest', 'push', '--all'], list, place)}`, platforms };
  await writeFile(join(out, IMAGE_FILE), JSON.stringify(pushed, undefined, 2));
  return pushed;
}

/** The values that `/version` shows. The date is that of the commit, so that a second build of the commit gives the same program. */
async function buildArguments(root: string): Promise<string[]> {
  const git = (...args: string[]): Promise<string> => textOf('git', ['-C', root, ...args]);
  const values = {
    GIT_COMMIT: await git('rev-parse', 'HEAD'),
    GIT_TREE_STATE: (await git('status', '--porcelain')) === '' ? 'clean' : 'dirty',
    BUILD_DATE: await git('log', '-1', '--format=%cI'),
    // Docker sets it; buildah 1.28 leaves it empty in FROM.
    BUILDPLATFORM: `linux/${process.arch.replace('x64', 'amd64')}`,
  };
  return Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
}

/** Pushes an image or a list, and resolves to its digest in the registry. */
async function push(command: readonly string[], name: string, place: Place): Promise<string> {
  const file = join(place.out, 'digest');
  await run('buildah', [...command, ...tls(place), '--digestfile', file, name, `docker://${name}`]);
  const digest = (await readFile(file, 'utf8')).trim();
  await rm(file);
  return digest;
}

const tls = ({ plainHttp }: Place): string[] => (plainHttp ? ['--tls-verify=false'] : []);

/** Writes the bill of materials. It runs the build of the image again, which gives the same bill. */
async function writeSbom({ root, out }: Place, arch: string): Promise<void> {
  const folder = join(out, `dist-${arch}`);
  await run(process.execPath, [join(root, 'dev/build/main.ts'), '--arch', arch, '--out', folder]);
  await copyFile(join(folder, 'sbom.cdx.json'), join(out, sbomFile(arch)));
  await rm(folder, { recursive: true });
}
