import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';

describe('the control plane', () => {
  let cluster: ControlPlane;
  beforeAll(async () => {
    cluster = await startControlPlane();
  });
  afterAll(() => cluster.stop());

  test('is the pinned version and says so', async () => {
    const version = JSON.parse(await cluster.kubectl(['version', '-o', 'json']));
    expect(version.serverVersion).toMatchObject({ major: '1', minor: '34', gitVersion: 'v1.34.4' });
  });

  test('gives service accounts tokens that RBAC judges', async () => {
    await cluster.kubectl(['create', 'serviceaccount', 'reader']);
    await cluster.kubectl(['create', 'clusterrole', 'read-nodes', '--verb=get,list', '--resource=nodes']);
    await cluster.kubectl([
      ...['create', 'clusterrolebinding', 'read-nodes'],
      ...['--clusterrole=read-nodes', '--serviceaccount=default:reader'],
    ]);
    const token = await cluster.serviceAccountToken('default', 'reader');
    const asReader = ['--kubeconfig', await cluster.kubeconfigFile(token)];
    // RBAC sees a new binding a moment later.
    const nodes = () => cluster.kubectl([...asReader, 'get', 'nodes', '-o', 'name']).catch(String);
    expect(await eventually(nodes, (answer) => !answer.includes('Forbidden'))).toBe('');
    await expect(cluster.kubectl([...asReader, 'get', 'pods'])).rejects.toThrow(
      /Forbidden.*cannot list resource "pods"/,
    );
  });

  test('keeps its data when the API server is killed and started again', async () => {
    await cluster.kubectl(['create', 'configmap', 'kept', '--from-literal=a=b']);
    await cluster.killApiServer();
    await expect(cluster.kubectl(['get', 'configmap', 'kept'])).rejects.toThrow(/refused/);
    await cluster.startApiServer();
    expect(await cluster.kubectl(['get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}'])).toBe('b');
  });

  test('rejects a start that fails with the end of the log', async () => {
    const failing = startControlPlane({ apiServerArgs: ['--no-such-flag'] });
    await expect(failing).rejects.toThrow(/kube-apiserver\.log ends with:.*unknown flag: --no-such-flag/s);
  });
});
