import { inject } from 'vitest';
import { clusterTool } from '../../support/cluster-tools.ts';
import { runTool } from '../../support/control-plane/clients.ts';

/** Runs kubectl as administrator of the node; answers its standard output. */
export async function kubectl(args: readonly string[], input?: string): Promise<string> {
  return runTool(await clusterTool('kubectl'), ['--kubeconfig', inject('kubeconfig'), ...args], input);
}

/** Runs helm as administrator of the node. */
export async function helm(args: readonly string[], input?: string): Promise<string> {
  return runTool(await clusterTool('helm'), ['--kubeconfig', inject('kubeconfig'), ...args], input);
}

/** `kubectl get … -o json`, parsed. */
export async function get<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse(await kubectl(['get', ...args, '-o', 'json'])) as T;
}
