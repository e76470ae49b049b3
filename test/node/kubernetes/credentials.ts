import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeKubeconfig } from '../../support/control-plane/clients.ts';
import { type Layout, layOut } from '../../support/control-plane/layout.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { NODE_ADDRESS, NODE_NAME, type Place } from './place.ts';

/** The name that kube-apiserver's certificate has for kubelets. */
const KUBELET_CLIENT = 'kube-apiserver-kubelet-client';

/** The usual ones: all are free here, and one that is chosen at random could be another program's. */
const PORTS = [2379, 2380, 6443] as const;

/** The users that the programs are. Kubernetes has built-in roles for these names. */
const USERS = {
  kubelet: { username: `system:node:${NODE_NAME}`, groups: ['system:nodes'] },
  'kube-controller-manager': { username: 'system:kube-controller-manager', groups: [] },
  'kube-scheduler': { username: 'system:kube-scheduler', groups: [] },
  'kube-proxy': { username: 'system:kube-proxy', groups: [] },
} as const;

type Program = keyof typeof USERS;

export interface Credentials {
  readonly layout: Layout;
  /** Of a user in system:masters. */
  readonly administrator: string;
  /** A program's kubeconfig file. */
  readonly kubeconfigs: Readonly<Record<Program, string>>;
  /** The certificate by which kube-apiserver proves itself to the kubelet: for logs, exec and port-forward. */
  readonly kubeletClient: { readonly cert: string; readonly key: string };
}

/** Makes keys, tokens and files for all programs of the node. */
export async function makeCredentials({ folder }: Place): Promise<Credentials> {
  const tokens = Object.entries(USERS).map(
    ([name, user]) => [name, randomBytes(24).toString('base64url'), user] as const,
  );
  const users = Object.fromEntries(tokens.map(([, token, user]) => [token, user]));
  const layout = await layOut(folder, users, PORTS);
  const url = `https://${NODE_ADDRESS}:${layout.apiPort}`;
  const { caFile } = layout;
  const kubeconfig = (name: string, token: string) => writeKubeconfig(layout.kubeconfigs, name, { url, caFile, token });
  const files = await Promise.all(tokens.map(async ([name, token]) => [name, await kubeconfig(name, token)] as const));
  const kubeletClient = { cert: join(folder, 'kubelet-client.crt'), key: join(folder, 'kubelet-client.key') };
  const { cert, key } = selfSigned(KUBELET_CLIENT);
  await writeFile(kubeletClient.cert, cert);
  await writeFile(kubeletClient.key, key, { mode: 0o600 });
  return {
    layout,
    administrator: await kubeconfig('administrator', layout.adminToken),
    kubeconfigs: Object.fromEntries(files) as Record<Program, string>,
    kubeletClient,
  };
}

/** Lets kube-apiserver use the kubelet's API, and kube-proxy the cluster's. */
export const BINDINGS = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [clusterRoleBinding('kubelet-client', 'system:kubelet-api-admin', KUBELET_CLIENT)],
});

function clusterRoleBinding(name: string, role: string, user: string): object {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  };
}
