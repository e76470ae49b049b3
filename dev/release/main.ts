import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { publishChart } from './chart.ts';
import { packCli } from './cli.ts';
import { checkSigner, isPlatform, PLATFORMS, type Platform, packExecutables } from './executables.ts';
import { publishImage } from './image.ts';
import { notesOf } from './notes.ts';
import { signRelease } from './sign.ts';
import { type Named, versionProblems } from './version.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');

const HELP = `npm run release -- STEP: one step of a release; .github/workflows/release.yml has their order

  check TAG   the tag, package.json, Chart.yaml and CHANGELOG.md name one version
  notes       print the section of CHANGELOG.md about it
  image       build the image for each processor and push all (buildah)
  chart       package the chart and push it (helm)
  cli         pack the commands for laptops, as a file for npm and as a program with Node inside for each platform,
              with their checksums; pushes nothing (rcodesign for macOS, GNU tar)
  sign        sign all three, attach bills of materials and provenance (cosign); after image, chart and cli

  --registry HOST/NAME   where images and charts go
  --platform NAME        makes the program for this platform alone, may be repeated: linux-x64, linux-arm64, macos-arm64
  --out FOLDER           for digests, bills of materials, the packages; default: release
  --plain-http           the registry has no TLS, being on loopback
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    registry: { type: 'string' },
    platform: { type: 'string', multiple: true, default: [...PLATFORMS] },
    out: { type: 'string', default: 'release' },
    'plain-http': { type: 'boolean', default: false },
  },
});
const [step, tag = ''] = positionals;
const read = (name: string): Promise<string> => readFile(join(ROOT, name), 'utf8');
const manifest = JSON.parse(await read('package.json')) as Named['manifest'];
const out = resolve(ROOT, values.out);
await mkdir(out, { recursive: true });

switch (step) {
  case 'check': {
    const chart = parse(await read('charts/gatehouse/Chart.yaml')) as Named['chart'];
    const problems = versionProblems({ tag, manifest, chart, changelog: await read('CHANGELOG.md') });
    for (const problem of problems) console.error(`release: ${problem}`);
    process.exitCode = problems.length > 0 ? 1 : 0;
    break;
  }
  case 'notes':
    console.log(notesOf(await read('CHANGELOG.md'), manifest.version) ?? '');
    break;
  case 'image':
    console.log((await publishImage(place())).image);
    break;
  case 'chart':
    console.log((await publishChart(place())).chart);
    break;
  case 'cli': {
    const where = { root: ROOT, out, version: manifest.version };
    const wanted = platforms();
    await checkSigner(wanted);
    const files = [await packCli(where), ...(await packExecutables(where, wanted))];
    console.log(files.join('\n'));
    break;
  }
  case 'sign':
    await signRelease({ out, version: manifest.version }, process.env);
    break;
  default:
    process.stderr.write(HELP);
    process.exitCode = 2;
}

function platforms(): Platform[] {
  return values.platform.map((name) => {
    if (isPlatform(name)) return name;
    throw new Error(`--platform is ${PLATFORMS.join(', ')}, not ${name}`);
  });
}

function place() {
  const { registry, 'plain-http': plainHttp } = values;
  if (!registry) throw new Error('--registry is missing');
  return { root: ROOT, out, registry, plainHttp, version: manifest.version };
}
