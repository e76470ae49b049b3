import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Builds images with buildah, in a storage of its own. It pulls nothing. */
export interface Builder {
  /** Builds the folder's Dockerfile under this name. */
  build(name: string, folder: string, more?: readonly string[]): Promise<void>;
  /** Writes the image as an OCI archive that says its name. */
  save(name: string, file: string): Promise<void>;
  /** Reads an image that `save` wrote. */
  load(name: string, file: string): Promise<void>;
}

/** Hands `work` a builder. Its storage is removed afterwards. Its mounts are in a namespace that ends with each command. */
export async function withBuilder<T>(work: (builder: Builder, scratch: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-image-'));
  const policy = join(folder, 'policy.json');
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'overlay'];
  const buildah = (...args: string[]) =>
    run(
      'unshare',
      ['--mount', 'buildah', ...storage, args[0]!, '--signature-policy', policy, ...args.slice(1)],
      folder,
    );
  const scratch = join(folder, 'scratch');
  try {
    await mkdir(scratch);
    await writeFile(policy, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }));
    return await work(
      {
        build: (name, from, more = []) =>
          buildah('bud', '--pull-never', '--network', 'host', '--format', 'oci', ...more, '--tag', name, from),
        // Not compressed: it is read on this machine only.
        save: (name, file) => buildah('push', '--disable-compression', name, `oci-archive:${file}:${name}`),
        load: (name, file) => buildah('pull', `oci-archive:${file}:${name}`),
      },
      scratch,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What it prints is shown if it fails. */
async function run(command: string, args: readonly string[], folder: string): Promise<void> {
  // chroot: RUN needs no container runtime of its own.
  const env = { ...process.env, BUILDAH_ISOLATION: 'chroot', TMPDIR: folder };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${Buffer.concat(output)}`);
}
