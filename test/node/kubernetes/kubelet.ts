import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credentials } from './credentials.ts';
import { NODE_ADDRESS, NODE_NAME, type Place } from './place.ts';
import type { Programs } from './programs.ts';

/** Starts the kubelet, and starts it again when it has ended. The node is ready about ten seconds later. */
export async function startKubelet(
  place: Place,
  binary: string,
  parts: { programs: Programs; credentials: Credentials },
) {
  const root = join(place.folder, 'kubelet');
  await mkdir(root);
  const config = join(place.folder, 'kubelet.yaml');
  await writeFile(config, JSON.stringify(kubeletConfig(place, parts.credentials)));
  parts.programs.keep('kubelet', binary, [
    `--config=${config}`,
    `--kubeconfig=${parts.credentials.kubeconfigs.kubelet}`,
    `--root-dir=${root}`,
    `--cert-dir=${join(root, 'pki')}`,
    `--node-ip=${NODE_ADDRESS}`,
    `--hostname-override=${NODE_NAME}`,
  ]);
}

function kubeletConfig({ folder, cgroup, socket }: Place, { kubeletClient }: Credentials): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: `unix://${socket}`,
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: kubeletClient.cert } },
    authorization: { mode: 'Webhook' },
    // The limits of containers hold; cgroups for pods and for the node itself are more than a container may make.
    cgroupDriver: 'cgroupfs',
    cgroupRoot: cgroup,
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    // The machine may be as full as it likes.
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    resolvConf: '', // there is no DNS
    volumePluginDir: join(folder, 'volume-plugins'),
  };
}
