import { type ClusterTools, clusterTools } from '../../support/cluster-tools.ts';
import { runTool } from '../../support/control-plane/clients.ts';
import { startApiServer, startEtcd } from '../../support/control-plane/servers.ts';
import { imageArchives } from '../image/images.ts';
import { startContainers } from './containers.ts';
import { BINDINGS, type Credentials, makeCredentials } from './credentials.ts';
import { startKubelet } from './kubelet.ts';
import { settleIn } from './network.ts';
import { NODE_ADDRESS, NODE_NAME, POD_NETWORK, SERVICE_NETWORK, thisPlace } from './place.ts';
import { Programs } from './programs.ts';

/** A Kubernetes of one node, which runs pods. */
export interface OneNode {
  /** Of a user in system:masters. */
  readonly kubeconfig: string;
  /** Ends its programs. What they leave behind goes with the namespaces. */
  stop(): Promise<void>;
}

/** Resolves when the node is ready and has the images. Only inside of namespaces made for it: see `inside`. */
export async function startOneNode(): Promise<OneNode> {
  const place = thisPlace();
  const tools = await clusterTools();
  await settleIn();
  const programs = new Programs(place.folder);
  try {
    const credentials = await makeCredentials(place);
    const { administrator } = credentials;
    const kubectl = (args: readonly string[], input?: string) =>
      runTool(tools.kubectl, ['--kubeconfig', administrator, ...args], input);
    const containers = startContainers(place, programs, await imageArchives());
    await startControlPlane(tools, programs, credentials);
    await kubectl(['apply', '-f', '-'], BINDINGS);
    await containers;
    await startKubelet(place, tools.kubelet, { programs, credentials });
    startProxy(tools, programs, credentials);
    await programs.until('kubelet', () => isReady(kubectl));
    return { kubeconfig: administrator, stop: () => programs.stop() };
  } catch (error) {
    await programs.stop();
    throw error;
  }
}

async function startControlPlane(tools: ClusterTools, programs: Programs, credentials: Credentials): Promise<void> {
  const { layout, kubeconfigs, kubeletClient } = credentials;
  programs.add('etcd', await startEtcd(tools.etcd, layout));
  const args = [
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged',
    `--service-cluster-ip-range=${SERVICE_NETWORK}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--kubelet-client-certificate=${kubeletClient.cert}`,
    `--kubelet-client-key=${kubeletClient.key}`,
  ];
  programs.add('kube-apiserver', await startApiServer(tools.kubeApiserver, layout, { address: NODE_ADDRESS, args }));
  programs.start('kube-controller-manager', tools.kubeControllerManager, [
    ...clientFlags(kubeconfigs['kube-controller-manager']),
    // Simulated nodes have no kubelet: without this 5,000 of them would be marked as lost a minute after they were made.
    '--node-startup-grace-period=24h',
    '--node-monitor-grace-period=24h',
    `--service-account-private-key-file=${layout.serviceAccountKey}`,
    `--root-ca-file=${layout.caFile}`,
    '--use-service-account-credentials',
    // The addresses of pods come from containerd's own range. Simulated nodes shall stay as they are.
    '--controllers=*,-ttl-controller',
    '--kube-api-qps=500',
    '--kube-api-burst=500',
  ]);
  programs.start('kube-scheduler', tools.kubeScheduler, clientFlags(kubeconfigs['kube-scheduler']));
}

const clientFlags = (kubeconfig: string): string[] => [
  `--kubeconfig=${kubeconfig}`,
  `--authentication-kubeconfig=${kubeconfig}`,
  `--authorization-kubeconfig=${kubeconfig}`,
  '--bind-address=127.0.0.1',
  '--leader-elect=false',
];

/**
 * Not in the mode nftables: there the kernel itself refuses about one of a million new connections while endpoints change, whatever
 * the pods do (Linux 6.18). kube-proxy then replaces a rule `numgen random mod 2 vmap { 0 : goto …, 1 : goto … }`. The kernel
 * settles which rules a packet gets when the packet enters the first chain, but which elements a map has when the packet comes to
 * the map. If the change falls between the two, a matter of microseconds, the packet has the old rule, whose map is empty by now:
 * no pod is chosen, and the SYN goes to the node's own port, where nobody listens. Rules of the mode iptables have no maps.
 */
function startProxy(tools: ClusterTools, programs: Programs, { kubeconfigs }: Credentials): void {
  programs.start('kube-proxy', tools.kubeProxy, [
    `--kubeconfig=${kubeconfigs['kube-proxy']}`,
    `--hostname-override=${NODE_NAME}`,
    `--cluster-cidr=${POD_NETWORK}`,
    '--proxy-mode=iptables',
    // The limits of a namespace's table are the machine's to set.
    '--conntrack-max-per-core=0',
    '--conntrack-min=0',
  ]);
}

async function isReady(kubectl: (args: readonly string[]) => Promise<string>): Promise<boolean> {
  const path = '{.items[*].status.conditions[?(@.type=="Ready")].status}';
  return (await kubectl(['get', 'nodes', '-o', `jsonpath=${path}`])) === 'True';
}
