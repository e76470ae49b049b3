import { appendFile, chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Builder } from './builder.ts';
import { unpackPackages } from './packages.ts';

const ROOT = resolve(import.meta.dirname, '..', '..', '..');

/** What the runtime base has beside Node. librt.so.1, which the password hashes load, is part of libc6. */
const RUNTIME = [
  ...['base-files', 'ca-certificates', 'netbase', 'tzdata'],
  ...['libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1', 'libssl3'],
];

/** What the build stage needs on top of that: a shell, and what its scripts call. */
const TOOLS = [
  ...['dash', 'coreutils', 'sed', 'grep', 'findutils', 'tar', 'gzip'],
  ...['libacl1', 'libattr1', 'libgmp10', 'libpcre2-8-0', 'libselinux1'],
];

const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const EXTRA = '/etc/ssl/certs/extra.crt';

/** The images that the Dockerfile starts from: that of the build, and that of the image. */
interface Bases {
  readonly build: string;
  readonly runtime: string;
}

/** Their full names. A stage may also start from an earlier one. */
export async function baseNames(): Promise<Bases> {
  const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
  const stages = [...dockerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)(?: AS (\S+))?/gim)];
  const own = new Set(stages.map(([, , name]) => name));
  const [build, runtime, ...more] = new Set(stages.map(([, from]) => from!).filter((from) => !own.has(from)));
  if (!build || !runtime || more.length > 0) throw new Error('the Dockerfile does not start from two images');
  return { build: `docker.io/library/${build}`, runtime };
}

/**
 * Stand-ins for the two base images, which no package registry has: from Debian's packages and the Node that the lock
 * file pins. Their names are those of the Dockerfile, so that it is built as it is.
 */
export async function buildBases(builder: Builder, scratch: string): Promise<void> {
  const { build, runtime } = await baseNames();
  await buildBase(builder, { name: build, folder: join(scratch, 'build'), fill: fillBuild });
  await buildBase(builder, { name: runtime, folder: join(scratch, 'runtime'), fill: fillRuntime });
}

interface Base {
  readonly name: string;
  readonly folder: string;
  /** Fills the root folder, and answers the rest of the Dockerfile. */
  readonly fill: (root: string) => Promise<string[]>;
}

async function buildBase(builder: Builder, { name, folder, fill }: Base): Promise<void> {
  const root = join(folder, 'root');
  const lines = await fill(root);
  for (const path of ['tmp', 'root', 'home/nonroot']) await mkdir(join(root, path), { recursive: true });
  await chmod(join(root, 'tmp'), 0o1777);
  await writeFile(join(folder, 'Dockerfile'), ['FROM scratch', 'COPY root/ /', ...lines, ''].join('\n'));
  await builder.build(name, folder);
}

async function fillRuntime(root: string): Promise<string[]> {
  await unpackPackages(RUNTIME, root);
  await bundleCertificates(root);
  await placeNode(join(root, 'nodejs/bin/node'));
  await writeFile(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n',
  );
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nnonroot:x:65532:\n');
  return [
    `ENV SSL_CERT_FILE=${CERTIFICATES}`,
    'USER 65532',
    'WORKDIR /home/nonroot',
    'ENTRYPOINT ["/nodejs/bin/node"]',
  ];
}

async function fillBuild(root: string): Promise<string[]> {
  await unpackPackages([...RUNTIME, ...TOOLS], root);
  await bundleCertificates(root);
  await placeNode(join(root, 'usr/local/bin/node'));
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  await placeNpm(root);
  return ['ENV PATH=/usr/local/bin:/usr/bin:/bin', ...(await extraCertificates(root))];
}

/** Node itself, which must be the one that the image's names promise. */
async function placeNode(path: string): Promise<void> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'dev/node/package.json'), 'utf8')) as { version: string };
  if (process.version !== `v${version}`)
    throw new Error(`this is Node ${process.version}, not the pinned ${version}: start it by an npm script`);
  await mkdir(dirname(path), { recursive: true });
  await cp(process.execPath, path);
}

/** The npm that runs this script. */
async function placeNpm(root: string): Promise<void> {
  const cli = process.env['npm_execpath'];
  if (!cli) throw new Error('npm_execpath is not set: start it by an npm script');
  await cp(dirname(dirname(cli)), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
}

/** Where the package registry is reached through an authority of its own, the build stage must know that too. */
async function extraCertificates(root: string): Promise<string[]> {
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  if (!file) return [];
  await cp(file, join(root, EXTRA), { dereference: true });
  return [`ENV NODE_EXTRA_CA_CERTS=${EXTRA}`];
}

/** What the package's script would do. */
async function bundleCertificates(root: string): Promise<void> {
  const folder = join(root, 'usr/share/ca-certificates/mozilla');
  await mkdir(dirname(join(root, CERTIFICATES)), { recursive: true });
  for (const file of (await readdir(folder)).toSorted())
    await appendFile(join(root, CERTIFICATES), await readFile(join(folder, file)));
}
