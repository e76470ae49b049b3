import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle } from './bundle.ts';
import { licensesText } from './licenses.ts';
import { copyNative, NATIVE } from './native.ts';
import { manifestOf, neededFolders, packageFolders, readPackages } from './packages.ts';
import { buildPage, writePage } from './page.ts';
import { billOfMaterials } from './sbom.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');

/**
 * `npm run build`: makes `dist`, the program with all packages that it needs. The image has that, `api` and a few single files.
 * `--arch` names the processor of the image (amd64, arm64), if it is not this machine's. `--out` names another folder than `dist`.
 */
const { values } = parseArgs({
  options: { out: { type: 'string', default: 'dist' }, arch: { type: 'string', default: '' } },
});
const out = resolve(ROOT, values.out);
const modules = join(out, 'node_modules');

await rm(out, { recursive: true, force: true });
const files = await bundle({ root: ROOT, entry: 'src/main.ts', folder: out, external: [NATIVE] });
const page = await buildPage(ROOT);
await writePage(page, join(out, 'page'));
const bundled = packageFolders([...files, ...page.modules]);
const native = await copyNative({ root: ROOT, modules, arch: values.arch });
const packages = [
  ...readPackages(bundled, { root: ROOT, modules: join(ROOT, 'node_modules') }),
  ...readPackages(native, { root: ROOT, modules }),
].toSorted((a, b) => (a.name < b.name ? -1 : 1));
const { name, version, license = '', dependencies = {} } = manifestOf(ROOT);
const needs = [...new Set([...neededFolders(ROOT, dependencies), ...packageFolders(page.modules), ...native])];
await writeFile(join(out, 'THIRD-PARTY-LICENSES.txt'), licensesText(packages));
await writeFile(join(out, 'sbom.cdx.json'), billOfMaterials({ name, version, license, needs }, packages));
