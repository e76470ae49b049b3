import { basename, join } from 'node:path';

/** The addresses of everything here: one node, its pods, its Services. Nothing of them is routed anywhere. */
export const NODE_NAME = 'node-a';
export const NODE_ADDRESS = '10.200.0.1';
export const POD_NETWORK = '10.244.0.0/24';
export const SERVICE_NETWORK = '10.96.0.0/16';

/** What `inside` made for this run. */
export interface Place {
  /** For state, sockets and logs. */
  readonly folder: string;
  /** The parent of the containers' cgroups. */
  readonly cgroup: string;
  /** The CRI socket. */
  readonly socket: string;
}

/** Throws outside of the namespaces that `inside` makes, because what is done next would change the machine itself. */
export function thisPlace(): Place {
  const folder = process.env['NODE_FOLDER'];
  if (!folder) throw new Error('NODE_FOLDER is not set: use npm run test:node or npm run node:up');
  return { folder, cgroup: `/${basename(folder)}`, socket: join(folder, 'containerd.sock') };
}
