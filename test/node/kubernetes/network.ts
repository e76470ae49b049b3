import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { NODE_ADDRESS } from './place.ts';

const run = promisify(execFile);

/**
 * Makes an interface with the node's address, whose other end is in this namespace as well: so the default route, which
 * kubelet and kube-proxy want, leads nowhere. Folders that containerd and the kubelet share with all others of a machine
 * become this namespace's own.
 */
export async function settleIn(): Promise<void> {
  for (const folder of ['/run', '/var/log']) await run('mount', ['-t', 'tmpfs', 'tmpfs', folder]);
  const ip = (line: string) => run('ip', line.split(' '));
  await ip('link set lo up');
  await ip('link add node0 type veth peer name node0-end');
  await ip(`address add ${NODE_ADDRESS}/24 dev node0`);
  await ip('link set node0-end up');
  await ip('link set node0 up');
  await ip('route add default dev node0');
  await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
}
