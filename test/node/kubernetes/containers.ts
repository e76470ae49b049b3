import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from '../../support/control-plane/clients.ts';
import { BUSYBOX } from '../image/images.ts';
import { type Place, POD_NETWORK } from './place.ts';
import type { Programs } from './programs.ts';

/** Starts containerd with the network of the pods, and imports these images. */
export async function startContainers(place: Place, programs: Programs, archives: readonly string[]): Promise<void> {
  const network = join(place.folder, 'cni');
  await mkdir(network);
  await writeFile(join(network, 'pods.conflist'), JSON.stringify(podNetwork(place)));
  const config = join(place.folder, 'containerd.toml');
  await writeFile(config, containerdConfig(place, network));
  programs.start('containerd', 'containerd', ['--config', config]);
  const ctr = (...args: string[]) => runTool('ctr', ['--address', place.socket, '--namespace', 'k8s.io', ...args]);
  await programs.until('containerd', () =>
    ctr('version').then(
      () => true,
      () => false,
    ),
  );
  for (const archive of archives) await ctr('images', 'import', archive);
}

/**
 * A pair of interfaces for each pod and a route to it, instead of a bridge: so a packet between two pods passes the
 * node, and the answer of a Service's pod gets the Service's address back.
 */
const podNetwork = ({ folder }: Place): object => ({
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'ptp',
      ipMasq: false,
      ipam: {
        type: 'host-local',
        dataDir: join(folder, 'cni-addresses'),
        ranges: [[{ subnet: POD_NETWORK }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
  ],
});

/** restrict_oom_score_adj: without it a machine that lacks CAP_SYS_RESOURCE starts no sandbox. */
const containerdConfig = ({ folder, socket }: Place, network: string): string => `version = 2
root = "${join(folder, 'containerd')}"
state = "/run/containerd"
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${BUSYBOX}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${network}"
`;
