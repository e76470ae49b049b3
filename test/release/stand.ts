import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { baseArchives } from '../node/image/base-archives.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { type Registry, startRegistry } from './registry.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** A place to release from: a registry on loopback, and an environment in which the tools know nothing else. */
export class Stand {
  readonly folder: string;
  readonly registry: Registry;
  readonly out: string;
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(folder: string, registry: Registry, environment: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.registry = registry;
    this.out = join(folder, 'out');
    this.#environment = environment;
  }

  static async start(): Promise<Stand> {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-release-'));
    const registry = await startRegistry(folder);
    const stand = new Stand(folder, registry, await environmentIn(folder, registry.host));
    try {
      await stand.#placeBases();
      return stand;
    } catch (error) {
      await stand.stop();
      throw error;
    }
  }

  /** Runs a step of the release. */
  async step(...args: string[]): Promise<string> {
    return this.run(process.execPath, [join(ROOT, 'dev/release/main.ts'), ...args, '--out', this.out]);
  }

  /** The steps that push. */
  push(step: 'image' | 'chart'): Promise<string> {
    return this.step(step, '--registry', `${this.registry.host}/gatehouse`, '--plain-http');
  }

  /** Runs a program in that environment. What it mounts goes with it. */
  async run(program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> {
    const env = { ...this.#environment, ...more };
    const { stdout } = await promisify(execFile)('unshare', ['--mount', program, ...args], { env, cwd: ROOT });
    return stdout.trim();
  }

  /** Puts a program of this name, a shell script, before all others. */
  async fakeProgram(name: string, script: string): Promise<void> {
    const file = join(this.folder, 'bin', name);
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
  }

  async stop(): Promise<void> {
    await this.registry.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /**
   * The base of the build is a stand-in that can build. That of the image is empty, since nothing of it runs here, but is there for both
   * processors, as the real one is.
   */
  async #placeBases(): Promise<void> {
    const [build, runtime] = await baseArchives();
    const buildah = (...args: string[]): Promise<string> => this.run('buildah', args);
    await buildah('pull', `oci-archive:${build.file}:${build.name}`);
    const empty = join(this.folder, 'empty');
    await mkdir(empty);
    await writeFile(join(empty, 'passwd'), 'nonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n');
    await writeFile(join(empty, 'Dockerfile'), 'FROM scratch\nCOPY passwd /etc/passwd\n');
    const platforms = 'linux/amd64,linux/arm64';
    await buildah('build', '--format', 'oci', '--platform', platforms, '--manifest', runtime.name, empty);
    const there = `docker://${this.registry.host}/${runtime.name}`;
    await buildah('manifest', 'push', '--all', '--tls-verify=false', runtime.name, there);
    await buildah('manifest', 'rm', runtime.name);
  }
}

/** Images in a storage of their own; the registry on loopback in the place of all others. */
async function environmentIn(folder: string, host: string): Promise<NodeJS.ProcessEnv> {
  const home = join(folder, 'home');
  const bin = join(folder, 'bin');
  for (const path of [join(home, '.config/containers'), bin, join(folder, 'tmp')])
    await mkdir(path, { recursive: true });
  const storage = join(folder, 'storage.conf');
  const registries = join(folder, 'registries.conf');
  await writeFile(
    storage,
    `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`,
  );
  const other = (prefix: string): string =>
    `[[registry]]\nprefix = "${prefix}"\nlocation = "${host}/${prefix}"\ninsecure = true\n`;
  await writeFile(
    registries,
    `${['docker.io', 'gcr.io'].map(other).join('\n')}\n[[registry]]\nlocation = "${host}"\ninsecure = true\n`,
  );
  await writeFile(
    join(home, '.config/containers/policy.json'),
    JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }),
  );
  return {
    ...process.env,
    PATH: [bin, dirname(await clusterTool('helm')), process.env['PATH']].join(delimiter),
    HOME: home,
    NPM_CONFIG_USERCONFIG: process.env['NPM_CONFIG_USERCONFIG'] ?? join(homedir(), '.npmrc'),
    TMPDIR: join(folder, 'tmp'),
    CONTAINERS_STORAGE_CONF: storage,
    CONTAINERS_REGISTRIES_CONF: registries,
    // RUN needs no container runtime of its own.
    BUILDAH_ISOLATION: 'chroot',
  };
}
