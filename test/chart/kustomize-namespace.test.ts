import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { V1ClusterRoleBinding, V1ConfigMap } from '@kubernetes/client-node';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { clusterTool } from '../support/cluster-tools.ts';
import { runTool } from '../support/control-plane/clients.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Manifest, NAMESPACE } from './helm.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'deploy');
const OTHER = 'gatehouse-test';

/** Kinds of `deploy/` that belong to the whole cluster. */
const CLUSTER_WIDE =
  /^(Namespace|ClusterRole|ClusterRoleBinding|CustomResourceDefinition|ValidatingAdmissionPolicy|ValidatingAdmissionPolicyBinding)$/;

const write = (folder: string, name: string, content: unknown): void =>
  writeFileSync(join(folder, name), JSON.stringify(content));

/** What a kustomization with these components makes, with more of its fields. */
async function build(
  components: readonly string[],
  more: object,
  folder = temporaryFolder().folder,
): Promise<Manifest[]> {
  const at = (...names: string[]): string => relative(folder, join(FOLDER, ...names));
  write(folder, 'kustomization.yaml', {
    resources: [at()],
    components: components.map((name) => at(name)),
    ...('namespace' in more ? { transformers: [at('another-namespace')] } : {}),
    ...more,
  });
  const built = await runTool(await clusterTool('kubectl'), ['kustomize', folder]);
  return parseAllDocuments(built).map((document) => document.toJS() as Manifest);
}

const idOf = ({ kind, metadata: { namespace, name } }: Manifest): string => `${kind} ${namespace ?? ''}/${name}`;

/** Those of the second installation that take the place of one of the first with another content. */
const taken = (first: readonly Manifest[], second: readonly Manifest[]): string[] => {
  const mine = new Map(first.map((object) => [idOf(object), JSON.stringify(object)]));
  return second.filter((one) => (mine.get(idOf(one)) ?? JSON.stringify(one)) !== JSON.stringify(one)).map(idOf);
};

const SETS = [
  ['the base', []],
  ['accounts', ['accounts']],
  ['the gateway', ['gateway']],
  ['log queries', ['logging']],
  ['accounts and the gateway', ['accounts', 'gateway']],
] as const;

describe.each(SETS)('a kustomization in another namespace, with %s', (_, components) => {
  let first: readonly Manifest[];
  let second: readonly Manifest[];
  let third: readonly Manifest[];
  beforeAll(async () => {
    first = await build(components, {});
    second = await build(components, { namespace: OTHER });
    third = await build(components, { namespace: 'gh-3' });
  });

  test('takes nothing of an installation in gatehouse-system, nor of a third one', () => {
    expect([taken(first, second), taken(second, third)]).toEqual([[], []]);
    expect([second.length, third.length]).toEqual([first.length, first.length]);
  });

  test('names its own namespace and no other, but for the issuer', () => {
    for (const object of second.filter(({ kind }) => kind !== 'ConfigMap')) {
      expect(JSON.stringify(object)).not.toContain(NAMESPACE);
      const expected = CLUSTER_WIDE.test(object.kind) ? undefined : OTHER;
      expect([idOf(object), object.metadata.namespace]).toEqual([idOf(object), expected]);
    }
  });

  test('binds its own roles to its own service account', () => {
    const names = second.filter(({ kind }) => kind === 'ClusterRole').map(({ metadata }) => metadata.name);
    const bindings = second.filter(({ kind }) => kind === 'ClusterRoleBinding') as unknown as V1ClusterRoleBinding[];
    for (const { roleRef, subjects = [] } of bindings) {
      expect(names).toContain(roleRef.name);
      for (const { kind, namespace } of subjects) if (kind === 'ServiceAccount') expect(namespace).toBe(OTHER);
    }
  });
});

describe('a kustomization in another namespace', () => {
  test('lets its own service account write users, and no other', async () => {
    const built = await build(['accounts'], { namespace: OTHER });
    const policy = built.find(({ kind }) => kind === 'ValidatingAdmissionPolicy') as unknown as {
      spec: { variables: readonly { name: string; expression: string }[] };
    };
    const writers = policy.spec.variables.find(({ name }) => name === 'writers')!.expression;
    expect(writers).toBe(`["system:serviceaccount:${OTHER}:gatehouse"]`);
  });

  test('gives way to a patch of the configuration, which names its issuer', async () => {
    const folder = temporaryFolder().folder;
    const metadata = { name: 'gatehouse-config', namespace: NAMESPACE };
    const data = {
      'config.yaml': 'authentication: {oauthOptions: {issuer: "https://gatehouse-system.example.org/oauth"}}\n',
    };
    write(folder, 'patch.yaml', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    const built = await build([], { namespace: OTHER, patches: [{ path: 'patch.yaml' }] }, folder);
    const configMap = built.find(({ kind }) => kind === 'ConfigMap') as unknown as V1ConfigMap;
    expect([configMap.metadata?.namespace, configMap.data]).toEqual([OTHER, data]);
  });

  test('may have a prefix to its names besides', async () => {
    const built = await build([], { namespace: OTHER, namePrefix: 'blue-' });
    expect(taken(await build([], {}), built)).toEqual([]);
    const binding = built.find(
      ({ kind, metadata }) => kind === 'ClusterRoleBinding' && metadata.name.endsWith(':gatehouse'),
    );
    expect(binding).toMatchObject({ subjects: [{ name: 'blue-gatehouse', namespace: OTHER }] });
  });
});
