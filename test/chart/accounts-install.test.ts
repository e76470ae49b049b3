import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1CustomResourceDefinition } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { served } from '../cluster/served.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { CHART, helm } from './helm.ts';

const KINDS = 'crd,clusterrole,validatingadmissionpolicy,validatingadmissionpolicybinding';
const OBJECTS = [
  'customresourcedefinition.apiextensions.k8s.io/loginrecords.iam.gatehouse.io',
  'customresourcedefinition.apiextensions.k8s.io/users.iam.gatehouse.io',
  'clusterrole.rbac.authorization.k8s.io/platform-admin',
  'clusterrole.rbac.authorization.k8s.io/platform-regular',
  'clusterrole.rbac.authorization.k8s.io/users-manager',
  'validatingadmissionpolicy.admissionregistration.k8s.io/here.gatehouse.accounts',
  'validatingadmissionpolicybinding.admissionregistration.k8s.io/here.gatehouse.accounts',
];
const FINALIZER = 'finalizers.gatehouse.io/users';

let cluster: ControlPlane;
let older: string;
beforeAll(async () => {
  cluster = await startControlPlane();
  older = await olderChart();
});
afterAll(async () => {
  await cluster?.stop();
  await rm(older, { recursive: true, force: true });
});

async function release(
  verb: 'install' | 'upgrade',
  values: object,
  chart = CHART,
  namespace = 'here',
): Promise<string> {
  const create = verb === 'install' ? ['--create-namespace'] : [];
  const args = ['--kubeconfig', await cluster.kubeconfigFile(), '--namespace', namespace, '--values', '-', ...create];
  return helm([verb, 'gatehouse', chart, ...args], JSON.stringify(values));
}

const uninstall = async (): Promise<string> =>
  helm(['--kubeconfig', await cluster.kubeconfigFile(), '--namespace', 'here', 'uninstall', 'gatehouse']);

const accounts = (more: object = {}): object => ({ accounts: { enabled: true, ...more } });

const patternOfLang = async (): Promise<unknown> => {
  const text = await cluster.kubectl(['get', 'crd', 'users.iam.gatehouse.io', '-o', 'json']);
  const { spec } = JSON.parse(text) as V1CustomResourceDefinition;
  return spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['spec']?.properties?.['lang']?.pattern;
};

/** Of the release, what is there of all that could be kept. */
const present = async (): Promise<string[]> => {
  const labels = ['-l', 'app.kubernetes.io/instance=gatehouse', '-o', 'name'];
  return (await cluster.kubectl(['get', KINDS, ...labels])).trim().split('\n');
};

const uidOf = async (user: string): Promise<string> =>
  cluster.kubectl(['get', 'users.iam.gatehouse.io', user, '-o', 'jsonpath={.metadata.uid}']);

describe('helm with accounts on a real API server', () => {
  let uid: string;

  test('installs the definitions, and an upgrade changes them and keeps the users', async () => {
    await release('install', accounts(), older);
    expect(await patternOfLang()).toBe('^[a-z]*$');
    await served(cluster, 'users.iam.gatehouse.io');
    const ada = { apiVersion: 'iam.gatehouse.io/v1alpha2', kind: 'User', spec: { email: 'ada@example.com' } };
    const metadata = { name: 'ada', finalizers: [FINALIZER] };
    await cluster.kubectl(['create', '-f', '-'], JSON.stringify({ ...ada, metadata }));
    uid = await uidOf('ada');
    await release('upgrade', accounts());
    expect(await patternOfLang()).toBe('^\\P{Cc}*$');
    expect(await uidOf('ada')).toBe(uid);
  });

  test('is refused a second time for one platform, unless it leaves definitions and roles to the first', async () => {
    await expect(release('install', accounts(), CHART, 'there')).rejects.toThrow('invalid ownership metadata');
    await release('install', accounts({ crds: { install: false }, roles: { create: false } }), CHART, 'there');
  });

  test('an uninstall leaves users, definitions, roles and policy', async () => {
    await uninstall();
    expect(await present()).toEqual(expect.arrayContaining(OBJECTS));
    expect(await uidOf('ada')).toBe(uid);
  });

  test('a new install of the release adopts them', async () => {
    await release('install', accounts());
    expect(await uidOf('ada')).toBe(uid);
  });

  test('accounts that are switched off leave them, with a warning', async () => {
    expect(await release('upgrade', accounts({ enabled: false }))).toContain(
      'WARNING: accounts.enabled was true and is false now. The users stay in the cluster, but none of them can sign in; those of the users file and the first administrator can.',
    );
    expect(await uidOf('ada')).toBe(uid);
    await release('upgrade', accounts());
  });

  test('an uninstall deletes them all when it is told to', async () => {
    await release('upgrade', accounts({ crds: { keep: false } }));
    await cluster.kubectl(['delete', 'users.iam.gatehouse.io', 'ada', '--wait=false']);
    const patch = JSON.stringify({ metadata: { finalizers: null } });
    await cluster.kubectl(['patch', 'users.iam.gatehouse.io', 'ada', '--type=merge', '-p', patch]);
    await uninstall();
    // The API server removes a definition in the background: helm has ended when it is marked for deletion.
    const left = async () => (await present()).filter((name) => OBJECTS.includes(name));
    expect(await eventually(left, (names) => names.length === 0)).toEqual([]);
  });
});

/** This chart as it might have been when languages were lower-case words. */
async function olderChart(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-older-chart-'));
  await cp(CHART, folder, { recursive: true });
  const file = join(folder, 'templates', 'users-crd.yaml');
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll('pattern: ^\\P{Cc}*$', 'pattern: ^[a-z]*$'));
  return folder;
}
