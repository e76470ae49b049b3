import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsToAllow, deniedBy } from '../../web/parts/denied.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';

let cluster: ControlPlane;
let gatehouse: Gatehouse;
let token: string;
beforeAll(async () => {
  cluster = await startControlPlane();
  gatehouse = await startGatehouse(cluster, { dana: [] });
  token = await gatehouse.signIn('dana');
}, 120_000);

afterAll(async () => {
  await gatehouse?.stop();
  await cluster?.stop();
});

/** Runs the commands as an administrator pastes them. */
async function paste(commands: string): Promise<void> {
  const kubectl = dirname(await clusterTool('kubectl'));
  const env = { PATH: `${kubectl}:${process.env['PATH']}`, KUBECONFIG: await cluster.kubeconfigFile() };
  await promisify(execFile)('sh', ['-ec', commands], { env });
}

const KINDS = '/kapis/resources.gatehouse.io/v1alpha3';

test.each([
  ['of the platform, over the whole cluster', `${KINDS}/nodes`, 200],
  ['of the platform, to one object', `${KINDS}/nodes/no-such`, 404],
  ['of the cluster, in a namespace', `${KINDS}/namespaces/default/pods`, 200],
  ['of the cluster, in a group', `${KINDS}/deployments`, 200],
])('W-19 the commands for the administrator give a right %s', async (_, path, after) => {
  const get = () => gatehouse.get(path, token);
  const { status, body } = await get();
  const denied = deniedBy({ status, message: (body as { message: string }).message });
  expect(denied?.user).toBe('dana');
  await paste(commandsToAllow(denied as NonNullable<typeof denied>, 'gatehouse'));
  await eventually(get, (answer) => answer.status === after);
});
