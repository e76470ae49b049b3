import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterTool } from '../../support/cluster-tools.ts';
import { type ServerProcess, startServer } from '../../support/control-plane/server-process.ts';
import { NODE_NAME, SERVICE_NETWORK, thisPlace } from './place.ts';

/**
 * Starts what enforces NetworkPolicies on the node: kube-router's controller, which needs iptables and ipset. `terminate` removes its rules.
 * `kubeconfig` is an administrator's.
 */
export async function startNetworkPolicies(kubeconfig: string): Promise<ServerProcess> {
  // Linux sends an address one rejection a second at most unless it is told otherwise. Others wait in vain.
  await writeFile('/proc/sys/net/ipv4/icmp_ratelimit', '0');
  const binary = await clusterTool('networkPolicyController');
  const log = join(thisPlace().folder, 'network-policy-controller.log');
  return startServer(binary, [kubeconfig, NODE_NAME, SERVICE_NETWORK], log);
}
