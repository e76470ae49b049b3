import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { clusterTools } from '../support/cluster-tools.ts';
import { REPOSITORY } from './image/images.ts';
import { startOneNode } from './kubernetes/one-node.ts';
import { thisPlace } from './kubernetes/place.ts';

/** `npm run node:up`: a shell on a node. The node goes with the shell. */
const node = await startOneNode();
const { kubectl, helm } = await clusterTools();
const { folder, socket } = thisPlace();
console.log(`The node is ready; its logs are in ${folder}. Leave this shell to remove it. Gatehouse:
  helm install gatehouse charts/gatehouse -n gatehouse-system --create-namespace --set image.repository=${REPOSITORY}`);
const env = {
  ...process.env,
  PATH: [dirname(kubectl), dirname(helm), process.env['PATH']].join(':'),
  KUBECONFIG: node.kubeconfig,
  CONTAINERD_ADDRESS: socket,
  CONTAINERD_NAMESPACE: 'k8s.io',
};
process.on('SIGINT', () => undefined); // it is for what runs in the shell
await once(spawn(process.env['SHELL'] ?? '/bin/sh', { env, stdio: 'inherit' }), 'exit');
await node.stop();
