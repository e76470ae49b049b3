import type { ControlPlane } from '../support/control-plane.ts';
import { NAMESPACE } from './installation.ts';
import { served } from './served.ts';
import type { WrittenKind } from './written-objects.ts';

const GROUP = 'example.com';

/** Defines `widgets` of the group, a namespaced custom resource that takes any object. Resolves when it is served. */
export async function installWidgets(cluster: Pick<ControlPlane, 'kubectl'>, group = GROUP): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { plural: 'widgets', singular: 'widget', kind: 'Widget' } },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(definition));
  await served(cluster, `widgets.${group}`);
}

export const widget = (namespace: string, name: string): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Widget',
  metadata: { name, namespace },
});

export const WRITTEN_WIDGETS: WrittenKind = {
  collection: `/apis/${GROUP}/v1/namespaces/default/widgets`,
  make: (name) => widget('default', name),
};

/** Lets the account of Gatehouse read them. */
export async function grantWidgets(cluster: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  const verbs = ['get', 'list', 'watch'].map((verb) => `--verb=${verb}`);
  await cluster.kubectl(['create', 'clusterrole', 'widgets', ...verbs, `--resource=widgets.${GROUP}`]);
  const account = `--serviceaccount=${NAMESPACE}:gatehouse`;
  await cluster.kubectl(['create', 'clusterrolebinding', 'widgets', '--clusterrole=widgets', account]);
}
