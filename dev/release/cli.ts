import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../build/bundle.ts';
import { licensesText } from '../build/licenses.ts';
import { manifestOf, neededFolders, packageFolders, readPackages } from '../build/packages.ts';
import { billOfMaterials } from '../build/sbom.ts';
import type { Place } from './place.ts';
import { run } from './run.ts';

/** A scoped name, because `gatehouse` belongs to somebody else, and `npm update` asks the registry for a package of this name. */
const PACKAGE = '@gatehouse-k8s/cli';

/** The entry point of both: the commands that people run on their own machine. */
export const CLI_ENTRY = 'src/client.ts';

/** The name that `npm pack` gives to the package's file. */
export const cliFile = (version: string): string => `${PACKAGE.replace('@', '').replace('/', '-')}-${version}.tgz`;

/**
 * Packs the commands `login`, `logout` and `kubeconfig` into `out`, as an npm package without dependencies, with its checksum and its
 * bill of materials beside it. Two packages of one commit are equal. Resolves to the path of the file.
 */
export async function packCli({ root, out, version }: Pick<Place, 'root' | 'out' | 'version'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-cli-'));
  try {
    await writeFile(join(out, 'sbom-cli.cdx.json'), await fill(folder, root, version));
    await run('npm', ['pack', folder, '--ignore-scripts', '--silent', '--pack-destination', out]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const file = cliFile(version);
  await writeChecksum(out, file);
  return join(out, file);
}

/** Writes the checksum beside the file, in the form that `sha256sum --check` reads. */
export async function writeChecksum(out: string, file: string): Promise<void> {
  const sum = createHash('sha256').update(await readFile(join(out, file)));
  await writeFile(join(out, `${file}.sha256`), `${sum.digest('hex')}  ${file}\n`);
}

/** Writes the content of the package into the folder. Resolves to the bill of materials. */
async function fill(folder: string, root: string, version: string): Promise<string> {
  const dist = join(folder, 'dist');
  await mkdir(dist);
  const files = await bundle({ root, entry: CLI_ENTRY, folder: dist, external: [], startsFast: true });
  const packages = readPackages(packageFolders(files), { root, modules: join(root, 'node_modules') });
  const { license = '', engines, dependencies = {} } = manifestOf(root);
  const manifest = {
    name: PACKAGE,
    version,
    description: 'Sign in at Gatehouse, the API server in front of a Kubernetes cluster, by hand or for kubectl',
    license,
    // npm refuses to publish a private package, but installs it.
    private: true,
    type: 'module',
    engines,
    bin: { gatehouse: 'dist/main.js' },
    files: ['dist'],
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  if (packages.length > 0) await writeFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), licensesText(packages));
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  return billOfMaterials({ name: PACKAGE, version, license, needs: neededFolders(root, dependencies) }, packages);
}
