import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../cluster/eventually.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { startServer } from '../support/control-plane/server-process.ts';

interface Descriptor {
  readonly digest: string;
  readonly platform?: { readonly architecture: string };
}

export interface Manifest {
  readonly manifests?: readonly Descriptor[];
  readonly layers?: readonly Descriptor[];
}

/** A registry of images on loopback: Debian's docker-registry. */
export interface Registry {
  readonly host: string;
  manifest(repository: string, reference: string): Promise<{ readonly digest: string; readonly content: Manifest }>;
  blob(repository: string, digest: string): Promise<Buffer>;
  stop(): Promise<void>;
}

const ACCEPT = 'application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json';

export async function startRegistry(folder: string): Promise<Registry> {
  const [port] = (await freePorts(1)) as [number];
  const host = `127.0.0.1:${port}`;
  const config = join(folder, 'registry.json');
  const storage = { filesystem: { rootdirectory: join(folder, 'registry') } };
  await writeFile(config, JSON.stringify({ version: 0.1, log: { level: 'warn' }, storage, http: { addr: host } }));
  const server = startServer('docker-registry', ['serve', config], join(folder, 'registry.log'));
  const get = async (path: string): Promise<Buffer> => {
    const answer = await fetch(`http://${host}/v2/${path}`, { headers: { accept: ACCEPT } });
    const body = Buffer.from(await answer.arrayBuffer());
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${body}`);
    return body;
  };
  await eventually(
    () =>
      get('').then(
        () => true,
        () => !server.running,
      ),
    (isOver) => isOver,
  );
  return {
    host,
    manifest: async (repository, reference) => {
      const body = await get(`${repository}/manifests/${reference}`);
      const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`;
      return { digest, content: JSON.parse(body.toString()) as Manifest };
    },
    blob: (repository, digest) => get(`${repository}/blobs/${digest}`),
    stop: () => server.kill(),
  };
}
