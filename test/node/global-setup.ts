import type { TestProject } from 'vitest/node';
import { startOneNode } from './kubernetes/one-node.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of an administrator of the node that all files share. */
    readonly kubeconfig: string;
  }
}

/** One node for all files; each file installs what it tests into a namespace of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const began = performance.now();
  const node = await startOneNode();
  console.log(`the node is ready after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  project.provide('kubeconfig', node.kubeconfig);
  return node.stop;
}
