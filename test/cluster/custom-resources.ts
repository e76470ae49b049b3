import { readFileSync } from 'node:fs';
import type { ControlPlane } from '../support/control-plane.ts';
import { served } from './served.ts';

const GROUP = 'iam.gatehouse.io';

/** The least that makes a server serve the custom resources of accounts, whatever is in them. As in the definitions of accounts, only users have a status. */
export async function installCustomResources(cluster: ControlPlane): Promise<void> {
  const names = [
    { plural: 'users', singular: 'user', kind: 'User' },
    { plural: 'loginrecords', singular: 'loginrecord', kind: 'LoginRecord' },
  ];
  const definitions = names.map((name) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Cluster',
      names: name,
      versions: [
        {
          name: 'v1alpha2',
          served: true,
          storage: true,
          ...(name.plural === 'users' && { subresources: { status: {} } }),
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }));
  const list = { apiVersion: 'v1', kind: 'List', items: definitions };
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(list));
  await served(cluster, ...definitions.map(({ metadata }) => metadata.name));
}

/** The definitions of accounts as they are installed, for a platform. */
export async function installDefinitions(cluster: ControlPlane, platform: string): Promise<void> {
  for (const plural of ['users', 'loginrecords']) {
    const file = new URL(`../../deploy/accounts/${plural}-crd.yaml`, import.meta.url);
    const text = readFileSync(file, 'utf8')
      .replaceAll('iam.gatehouse.io', `iam.${platform}.io`)
      .replaceAll('iam\\.gatehouse\\.io', `iam\\.${platform}\\.io`);
    await cluster.kubectl(['apply', '-f', '-'], text);
    await served(cluster, `${plural}.iam.${platform}.io`);
  }
}
