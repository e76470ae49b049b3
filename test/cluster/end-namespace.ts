import type { ControlPlane } from '../support/control-plane.ts';

/**
 * Deletes a namespace, and resolves when it is gone. No controller runs here that would empty a namespace and let it go, so what is in it
 * stays.
 */
export async function endNamespace({ kubectl }: Pick<ControlPlane, 'kubectl'>, name: string): Promise<void> {
  await kubectl(['delete', 'namespace', name, '--wait=false']);
  const namespace = JSON.parse(await kubectl(['get', 'namespace', name, '-o', 'json'])) as object;
  const body = JSON.stringify({ ...namespace, spec: { finalizers: [] } });
  await kubectl(['replace', '--raw', `/api/v1/namespaces/${name}/finalize`, '-f', '-'], body);
  await kubectl(['wait', '--for=delete', `namespace/${name}`, '--timeout=60s']);
}
