import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from './free-ports.ts';

/** The files and ports of one control plane. They are chosen once, so that a restart finds the same data and keys. */
export interface Layout {
  readonly etcdData: string;
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
  readonly apiPort: number;
  /** The folder into which kube-apiserver writes its certificate at its first start, followed by the certificate of its CA. */
  readonly certificates: string;
  readonly caFile: string;
  readonly serviceAccountKey: string;
  readonly tokenFile: string;
  readonly adminToken: string;
  readonly etcdLog: string;
  readonly apiServerLog: string;
  readonly kubeconfigs: string;
}

type Ports = readonly [number, number, number];

/** The user of each bearer token. */
export type StaticTokens = Readonly<Record<string, { readonly username: string; readonly groups: readonly string[] }>>;

/** Chooses the files and ports. `ports` are those of etcd, of its peers and of kube-apiserver. Default: free ports. */
export async function layOut(folder: string, tokens: StaticTokens, ports?: Ports): Promise<Layout> {
  const [etcdPort, etcdPeerPort, apiPort] = ports ?? ((await freePorts(3)) as [number, number, number]);
  const certificates = join(folder, 'certificates');
  const layout: Layout = {
    etcdData: join(folder, 'etcd'),
    etcdPort,
    etcdPeerPort,
    apiPort,
    certificates,
    caFile: join(certificates, 'apiserver.crt'),
    serviceAccountKey: join(folder, 'service-account.key'),
    tokenFile: join(folder, 'tokens.csv'),
    adminToken: randomBytes(24).toString('base64url'),
    etcdLog: join(folder, 'etcd.log'),
    apiServerLog: join(folder, 'kube-apiserver.log'),
    kubeconfigs: join(folder, 'kubeconfigs'),
  };
  await mkdir(layout.kubeconfigs, { recursive: true });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(layout.serviceAccountKey, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  const administrator = { [layout.adminToken]: { username: 'administrator', groups: ['system:masters'] } };
  await writeFile(layout.tokenFile, tokenLines({ ...tokens, ...administrator }), { mode: 0o600 });
  return layout;
}

/** The static token file: token, user name, uid, "group,group". */
const tokenLines = (tokens: StaticTokens): string =>
  Object.entries(tokens)
    .map(([token, { username, groups }]) => `${token},${username},${username},"${groups.join(',')}"\n`)
    .join('');
