import { globSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kubeconfigText } from '../../dev/cluster/kubeconfig.ts';
import { runTool } from '../support/control-plane/clients.ts';
import { type ImageApp, makeImageApp } from '../support/image-app.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SCHEMAS = join(ROOT, 'node_modules', '@cyclonedx', 'cyclonedx-library', 'res', 'schema');
const MOST_BYTES = 15e6;

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly license?: { readonly id: string }; readonly expression?: string }[];
}

interface Bom {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

let app: ImageApp;
let bom: Bom;
beforeAll(async () => {
  app = await makeImageApp();
  bom = readJson(join(app.folder, 'dist', 'sbom.cdx.json')) as Bom;
});
afterAll(() => app.remove());

const gatehouse = (args: readonly string[], input = ''): Promise<string> =>
  runTool(process.execPath, [...app.program, ...args], input);

/** Every file in the image above its base, by its path from `/app`. */
const files = (): string[] =>
  readdirSync(app.folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(app.folder, path)).isFile(),
  );

/** The packages that the program was made of, as the source maps tell: `name version`. */
function packagesInMaps(): string[] {
  const sources = globSync(join(app.folder, 'dist', '*.map')).flatMap(
    (map) => (readJson(map) as { sources: string[] }).sources,
  );
  const folders = sources.flatMap(
    (path) => /node_modules\/.*node_modules\/(?:@[^/]+\/)?[^/]+|node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set(folders)].map((folder) => nameAndVersion(join(ROOT, folder)));
}

function nameAndVersion(folder: string): string {
  const { name, version } = readJson(join(folder, 'package.json')) as Component;
  return `${name} ${version}`;
}

const nativePackages = (): string[] =>
  globSync(join(app.folder, 'dist', 'node_modules', '@node-rs', '*')).map(nameAndVersion);

describe('what the image has above its base', () => {
  test('is at most 15 MB', () => {
    const bytes = files().reduce((sum, path) => sum + statSync(join(app.folder, path)).size, 0);
    expect(bytes).toBeLessThan(MOST_BYTES);
  });

  test('is the program with its source maps, one native package and its binary, licences, the bill of materials, the page, the API descriptions', () => {
    const kinds = files().map((path) =>
      path.replace(/^(dist\/(?:page\/assets\/)?)[\w-]+(\.js|\.css|\.svg)(\.map)?$/, '$1*$2$3'),
    );
    const binary = expect.stringMatching(/^dist\/node_modules\/@node-rs\/bcrypt-\w+-\w+(-gnu)?\/bcrypt\.[\w-]+\.node$/);
    expect([...new Set(kinds)].filter((path) => !path.startsWith('dist/node_modules/')).toSorted()).toEqual([
      'LICENSE',
      'api/crd.openapi.yaml',
      'api/platform.openapi.yaml',
      'build.json',
      'dist/*.js',
      'dist/*.js.map',
      'dist/THIRD-PARTY-LICENSES.txt',
      'dist/page/assets/*.css',
      'dist/page/assets/*.js',
      'dist/page/assets/*.svg',
      'dist/page/index.html',
      'dist/sbom.cdx.json',
      'package.json',
    ]);
    expect(files().filter((path) => path.endsWith('.node'))).toEqual([binary]);
  });

  test('has no map that repeats the sources', () => {
    const repeating = globSync(join(app.folder, 'dist', '*.map')).filter(
      (map) => 'sourcesContent' in (readJson(map) as object),
    );
    expect(repeating).toEqual([]);
  });
});

describe('the program as the image runs it', () => {
  test('tells the release of package.json', async () => {
    const { version } = readJson(join(ROOT, 'package.json')) as Component;
    expect(await gatehouse(['--version'])).toBe(`gatehouse v${version}\n`);
  });

  test('hashes a password with the native module of its platform', async () => {
    expect(await gatehouse(['hash-password'], 'a password of the test\n')).toMatch(
      /^\$2[by]\$10\$[./A-Za-z0-9]{53}\n$/,
    );
  });

  test('prints the schema of the configuration that is in the repository', async () => {
    expect(await gatehouse(['--config-schema'])).toBe(readFileSync(join(ROOT, 'config.schema.json'), 'utf8'));
  });

  test('W-07 without its page starts nothing, and says so in one sentence', async () => {
    const page = join(app.folder, 'dist', 'page');
    const away = join(app.folder, 'away');
    const kubeconfig = join(app.folder, 'kubeconfig');
    writeFileSync(kubeconfig, kubeconfigText('https://127.0.0.1:1', 'canary-token'));
    const config = join(app.folder, 'config.json');
    writeFileSync(config, JSON.stringify({ kubernetes: { kubeconfig }, users: { firstAdministrator: {} } }));
    renameSync(page, away);
    try {
      await expect(gatehouse(['--config', config])).rejects.toThrow(
        /ended with code 1: gatehouse: page\.enabled: the page is not built; run npm run build, or set page\.enabled to false\n$/,
      );
    } finally {
      renameSync(away, page);
      for (const file of [kubeconfig, config]) rmSync(file);
    }
  });

  test('names lines of the sources in a stack', async () => {
    const thrower = 'process.stdout.write = () => { throw new Error("planted") }';
    const child = runTool(process.execPath, [
      '--import',
      `data:text/javascript,${thrower}`,
      ...app.program,
      '--version',
    ]);
    const source = readFileSync(join(ROOT, 'src', 'cli', 'run-to-end.ts'), 'utf8').split('\n');
    const line = source.findIndex((text) => text.trim().startsWith("process.stdout.write('', ")) + 1;
    await expect(child).rejects.toThrow(`${ROOT}/src/cli/run-to-end.ts:${line}:`);
  });
});

describe('the bill of materials', () => {
  test('satisfies the schema of CycloneDX 1.6', () => {
    const ajv = new Ajv({ strict: false });
    formats.default(ajv);
    // Formats of drafts that nothing here uses.
    for (const unused of ['iri-reference', 'idn-email']) ajv.addFormat(unused, () => false);
    for (const name of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json'])
      ajv.addSchema(readJson(join(SCHEMAS, name)) as object, `http://cyclonedx.org/schema/${name}`);
    const isValid = ajv.compile(readJson(join(SCHEMAS, 'bom-1.6.SNAPSHOT.schema.json')) as object);
    expect(isValid(bom), JSON.stringify(isValid.errors)).toBe(true);
    expect(isValid({ ...bom, components: [{ name: 'without a type' }] })).toBe(false);
  });

  test('has every package that the program was made of, with its version, and the native ones', () => {
    const inMaps = packagesInMaps();
    expect(inMaps.length).toBeGreaterThan(60);
    const named = bom.components.map(({ name, version }) => `${name} ${version}`);
    expect([...inMaps, ...nativePackages()].filter((one) => !named.includes(one))).toEqual([]);
    expect(bom.components.map(({ name }) => name)).toEqual(expect.arrayContaining(['preact', '@preact/signals']));
  });

  test('names a licence and a version of every package', () => {
    const without = bom.components.filter(
      ({ licenses, version }) => !version || !(licenses[0]?.license?.id ?? licenses[0]?.expression),
    );
    expect(without).toEqual([]);
  });

  test('says which package is there for which', () => {
    const { name, version } = readJson(join(ROOT, 'package.json')) as Component;
    const needs = (ref: string): readonly string[] => bom.dependencies.find((one) => one.ref === ref)?.dependsOn ?? [];
    const direct = needs(`pkg:npm/${name}@${version}`);
    expect(direct.map((ref) => ref.replace(/@[^@]*$/, ''))).toContain('pkg:npm/express');
    const reached = new Set(direct);
    for (const ref of reached) for (const further of needs(ref)) reached.add(further);
    expect(bom.components.map(({ purl }) => purl).filter((purl) => !reached.has(purl))).toEqual([]);
  });
});

test('the licences of all these packages are in one file', () => {
  const text = readFileSync(join(app.folder, 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const missing = bom.components.filter(({ name, version }) => !text.includes(`\n${name} ${version} (`));
  expect(missing).toEqual([]);
  expect(text).toContain('Permission is hereby granted');
});
