import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENT_HELP } from '../../src/cli/login/login-help.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import type { Manifest } from './registry.ts';
import { Stand } from './stand.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const IMAGE = 'gatehouse/gatehouse';
const CHART = 'gatehouse/charts/gatehouse';

let stand: Stand;
let version: string;
beforeAll(async () => {
  version = (JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
  stand = await Stand.start();
});
afterAll(() => stand?.stop());

describe('the image', () => {
  let told: string;
  let list: { digest: string; content: Manifest };

  beforeAll(async () => {
    told = await stand.push('image');
    list = await stand.registry.manifest(IMAGE, version);
  });

  /** The image for one processor, unpacked: its `/app`. */
  async function unpacked(arch: string): Promise<string> {
    const folder = join(stand.folder, `app-${arch}`);
    await mkdir(folder);
    const one = list.content.manifests?.find(({ platform }) => platform?.architecture === arch);
    const { content } = await stand.registry.manifest(IMAGE, one!.digest);
    for (const { digest } of content.layers!) {
      const layer = join(folder, 'layer.tar.gz');
      await writeFile(layer, await stand.registry.blob(IMAGE, digest));
      await promisify(execFile)('tar', ['-xzf', layer, '-C', folder]);
    }
    return join(folder, 'app');
  }

  test('is in the registry under its version with the digest that the step tells, for both processors', () => {
    expect(told).toBe(`${stand.registry.host}/${IMAGE}@${list.digest}`);
    expect(list.content.manifests?.map(({ platform }) => platform?.architecture)).toEqual(['amd64', 'arm64']);
  });

  test('has for each processor the binary of that processor, and the same program', async () => {
    const [amd64, arm64] = [await unpacked('amd64'), await unpacked('arm64')];
    // The field of the ELF header that names the machine: 62 is x86-64, 183 is AArch64.
    expect([await machineOf(amd64), await machineOf(arm64)]).toEqual([62, 183]);
    const programs = await Promise.all([amd64, arm64].map((app) => hashes(join(app, 'dist'))));
    expect(programs[0]!.length).toBeGreaterThan(10);
    expect(programs[0]).toEqual(programs[1]);
    for (const [arch, app] of [
      ['amd64', amd64],
      ['arm64', arm64],
    ] as const)
      expect(await readFile(join(stand.out, `sbom-${arch}.cdx.json`), 'utf8')).toBe(
        await readFile(join(app, 'dist/sbom.cdx.json'), 'utf8'),
      );
  });

  test('K-11 has the commands for laptops, so that `docker run` can sign people in', async () => {
    const program = join(stand.folder, 'app-amd64/app/dist/main.js');
    const env = { PATH: '/nonexistent', HOME: stand.folder };
    const { stdout } = await promisify(execFile)(process.execPath, [program, 'login', '--help'], { env });
    expect(stdout).toBe(CLIENT_HELP.login);
    const entry = /^ENTRYPOINT (.*)$/m.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8'))?.[1] ?? '';
    expect(JSON.parse(entry).at(-1)).toBe('/app/dist/main.js');
  });

  test('is pulled again by its digest', async () => {
    await stand.run('buildah', ['pull', '--tls-verify=false', told]);
    const inspected = await stand.run('buildah', [
      'inspect',
      '--type',
      'image',
      '--format',
      '{{.FromImageDigest}}',
      told,
    ]);
    expect([list.digest, ...list.content.manifests!.map(({ digest }) => digest)]).toContain(inspected);
  });
});

describe('the chart', () => {
  let told: string;
  beforeAll(async () => {
    told = await stand.push('chart');
  });

  test('is in the registry under its version with the digest that the step tells', async () => {
    const { digest } = await stand.registry.manifest(CHART, version);
    expect(told).toBe(`${stand.registry.host}/${CHART}@${digest}`);
  });

  test('is pulled again as it was pushed', async () => {
    const folder = join(stand.folder, 'pulled');
    await mkdir(folder);
    await stand.run('helm', ['pull', `oci://${told}`, '--plain-http', '--destination', folder]);
    const [file = ''] = await readdir(folder);
    const pushed = await readFile(join(stand.out, `gatehouse-${version}.tgz`));
    expect((await readFile(join(folder, file))).equals(pushed)).toBe(true);
  });
});

test('image, chart, bills of materials and provenance are signed by digest, never by tag, and the files for laptops beside them', async () => {
  const log = join(stand.folder, 'cosign.log');
  await stand.fakeProgram('cosign', `echo "$@" >> ${log}`);
  const { image, platforms } = JSON.parse(await readFile(join(stand.out, 'image.json'), 'utf8'));
  const { chart } = JSON.parse(await readFile(join(stand.out, 'chart.json'), 'utf8'));
  await stand.run(process.execPath, [join(ROOT, 'dev/release/main.ts'), 'sign', '--out', stand.out], WORKFLOW);
  const provenance = (what: string): string =>
    `attest --yes --type slsaprovenance1 --predicate ${stand.out}/provenance.json ${what}`;
  const packed = [
    `gatehouse-k8s-cli-${version}.tgz`,
    ...['linux-x64', 'linux-arm64', 'macos-arm64'].map((platform) => `gatehouse-${version}-${platform}.tar.gz`),
  ].map((name) => join(stand.out, name));
  const sbom = (arch: string): string =>
    `attest --yes --type cyclonedx --predicate ${stand.out}/sbom-${arch}.cdx.json ${platforms[arch]}`;
  expect((await readFile(log, 'utf8')).trim().split('\n')).toEqual([
    `sign --yes --recursive ${image}`,
    `sign --yes ${chart}`,
    ...[image, platforms.amd64, platforms.arm64, chart].map(provenance),
    sbom('amd64'),
    sbom('arm64'),
    ...packed.map((file) => `sign-blob --yes --bundle ${file}.sigstore.json ${file}`),
  ]);
  expect([image, chart, ...Object.values(platforms)].every((what) => /@sha256:[0-9a-f]{64}$/.test(what))).toBe(true);
});

test('the workflows are what GitHub Actions takes', async () => {
  const folder = join(ROOT, '.github/workflows');
  const files = (await readdir(folder)).map((file) => join(folder, file));
  await promisify(execFile)(await clusterTool('actionlint'), ['-no-color', ...files]);
});

/** As the workflow's machine sets them. */
const WORKFLOW = {
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'gatehouse/gatehouse',
  GITHUB_REPOSITORY_ID: '1',
  GITHUB_WORKFLOW_REF: 'gatehouse/gatehouse/.github/workflows/release.yml@refs/tags/v0.1.0',
  GITHUB_REF: 'refs/tags/v0.1.0',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_SHA: '0'.repeat(40),
  GITHUB_RUN_ID: '2',
  GITHUB_RUN_ATTEMPT: '1',
};

async function machineOf(app: string): Promise<number> {
  const files = await readdir(join(app, 'dist'), { recursive: true });
  const [binary = ''] = files.filter((file) => file.endsWith('.node'));
  return (await readFile(join(app, 'dist', binary))).readUInt16LE(18);
}

/** Of the program's files, by name. */
async function hashes(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => /\.js(\.map)?$/.test(file)).toSorted();
  const hash = async (file: string): Promise<string> =>
    createHash('sha256')
      .update(await readFile(join(folder, file)))
      .digest('hex');
  return Promise.all(files.map(async (file) => `${file} ${await hash(file)}`));
}
