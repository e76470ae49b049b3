import { request } from 'undici';
import { describeConformance } from '../support/conformance/conformance.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { installCustomResources } from './custom-resources.ts';

describeConformance('kube-apiserver', async () => {
  const powerlessToken = 'powerless';
  const cluster = await startControlPlane({ tokens: { [powerlessToken]: { username: 'nobody', groups: [] } } });
  await installCustomResources(cluster);
  return { ...cluster, token: cluster.adminToken, powerlessToken, compact: () => compact(cluster) };
});

/**
 * Compacting etcd is not enough: kube-apiserver keeps snapshots for lists and a window of events for watches in memory,
 * and serves old versions from them for as long as they last. A restart begins with neither.
 */
async function compact(cluster: ControlPlane): Promise<void> {
  const { header } = await etcd(cluster, '/v3/kv/range', { key: Buffer.from('/').toString('base64') });
  await etcd(cluster, '/v3/kv/compaction', { revision: header.revision, physical: true });
  await cluster.killApiServer();
  await cluster.startApiServer();
}

/** etcd's JSON gateway: https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/ */
async function etcd(cluster: ControlPlane, path: string, body: object): Promise<{ header: { revision: string } }> {
  const answer = await request(cluster.etcdUrl + path, { method: 'POST', body: JSON.stringify(body) });
  if (answer.statusCode !== 200) throw new Error(`etcd ${path}: ${answer.statusCode} ${await answer.body.text()}`);
  return (await answer.body.json()) as { header: { revision: string } };
}
