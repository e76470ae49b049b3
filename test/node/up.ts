import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { clusterTools } from '../support/cluster-tools.ts';
import { REPOSITORY } from './image/images.ts';
import { startOneNode } from './kubernetes/one-node.ts';
import { thisPlace } from './kubernetes/place.ts';

/** `npm run node:up`: a shell on a node, and the command that gives further ones. The node goes with the first shell. */
const node = await startOneNode();
const { kubectl, helm } = await clusterTools();
const { folder, socket } = thisPlace();
const settings = {
  PATH: [dirname(kubectl), dirname(helm), process.env['PATH']].join(':'),
  KUBECONFIG: node.kubeconfig,
  CONTAINERD_ADDRESS: socket,
  CONTAINERD_NAMESPACE: 'k8s.io',
};
const file = join(folder, 'shell.env');
await writeFile(
  file,
  Object.entries(settings)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join(''),
);
console.log(`The node is ready; its logs are in ${folder}. Leave this shell to remove it. Gatehouse:
  helm install gatehouse charts/gatehouse -n gatehouse-system --create-namespace --set image.repository=${REPOSITORY}
Another shell on it, from another terminal of this machine, in this folder:
  nsenter --net --mount --pid --target $(pgrep -of ${folder}/[k]ubelet.yaml) sh -c '. ${file}; exec "\${SHELL:-sh}"'`);
const env = { ...process.env, ...settings };
process.on('SIGINT', () => undefined); // it is for what runs in the shell
await once(spawn(process.env['SHELL'] ?? '/bin/sh', { env, stdio: 'inherit' }), 'exit');
await node.stop();
