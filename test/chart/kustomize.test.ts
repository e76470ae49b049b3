import { readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { clusterTool } from '../support/cluster-tools.ts';
import { runTool } from '../support/control-plane/clients.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Manifest, NAMESPACE, NOT_PRUNED, Rendered, render } from './helm.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'deploy');

/** What is Helm's own: the labels that say that it manages the object, and what it keeps. */
const OF_HELM = /^ +(helm\.sh\/chart|helm\.sh\/resource-policy|app\.kubernetes\.io\/managed-by): /;

/** The end of the ConfigMap's name. Helm and kustomize make it of the content, each in its own way. */
const HASH = /(?<=\bgatehouse-config)-[0-9a-z]{10}\b/g;

/** The chart's files without what is Helm's own and without the hash, by file name. */
function baseFiles(rendered: Rendered): Map<string, string> {
  const parts = rendered.text.split(/^---\n# Source: gatehouse\/templates\//m).slice(1);
  return new Map(
    parts.map((part) => {
      const [name = '', ...lines] = part.trimEnd().split('\n');
      const kept = lines.filter((line) => !OF_HELM.test(line)).join('\n');
      return [name, `${kept}\n`.replaceAll(HASH, '')];
    }),
  );
}

/** As they stand in deploy/, where kustomize makes the ConfigMap of the configuration file. */
function asInDeploy(files: ReadonlyMap<string, string>): Map<string, string> {
  const { 'configmap.yaml': configMap = '', ...others } = Object.fromEntries(files);
  return new Map(Object.entries({ ...others, 'config.yaml': (parse(configMap) as V1ConfigMap).data!['config.yaml']! }));
}

async function build(folder: string): Promise<Manifest[]> {
  const built = await runTool(await clusterTool('kubectl'), ['kustomize', folder]);
  return byName(parseAllDocuments(built.replaceAll(HASH, '')).map((document) => document.toJS() as Manifest));
}

const byName = (list: readonly Manifest[]): Manifest[] =>
  list.toSorted((a, b) => `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`));

function objectsOf(files: ReadonlyMap<string, string>): Manifest[] {
  return [...files.values()].map((text) => {
    const { metadata, ...object } = parse(text) as Manifest;
    const { annotations, ...others } = metadata;
    return { ...object, metadata: { ...others, ...(annotations && { annotations }) } };
  });
}

const namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
};

let files: Map<string, string>;
beforeAll(async () => {
  files = baseFiles(await render());
});

describe('the kustomize base', () => {
  // After a change of the chart, "npm run test:chart -- kustomize --update" writes the files anew.
  test('equals what the chart renders by default, file by file', async () => {
    for (const [name, text] of asInDeploy(files)) await expect(text).toMatchFileSnapshot(join(FOLDER, name));
  });

  test('and the role that the cluster tier gives to a single replica equals the chart’s for sessions in memory', async () => {
    const role = baseFiles(await render({ sessions: { store: 'memory' } })).get('role.yaml');
    await expect(role).toMatchFileSnapshot(join(FOLDER, '..', 'test', 'cluster', 'memory-sessions-role.yaml'));
  });

  test('has a file for each of the chart’s, and the namespace', () => {
    const expected = [
      ...asInDeploy(files).keys(),
      'accounts',
      'another-namespace',
      'gateway',
      'logging',
      'kustomization.yaml',
      'namespace.yaml',
    ];
    expect(readdirSync(FOLDER).toSorted()).toEqual(expected.toSorted());
  });

  test('R-24 makes a ConfigMap that neither Argo CD nor Flux deletes when another one follows', async () => {
    const configMap = (await build(FOLDER)).find(({ kind }) => kind === 'ConfigMap')!;
    expect(configMap.metadata.annotations).toEqual(NOT_PRUNED);
  });

  test('builds to the same objects as the chart, in a namespace that enforces "restricted"', async () => {
    expect(await build(FOLDER)).toEqual(byName([...objectsOf(files), namespace]));
  });
});

/** The values by which the chart renders what the component makes of the base. */
const COMPONENTS = [
  // Only Helm knows how to keep an object.
  ['accounts', { accounts: { enabled: true, crds: { keep: false } } }],
  ['gateway', { gateway: { enabled: true, users: ['admin'], groups: ['gatehouse-admins'] } }],
  [
    'logging',
    {
      logging: {
        host: 'https://opensearch.logging.svc:9200',
        username: 'gatehouse',
        existingSecret: 'gatehouse-log-store',
        ca: { existingSecret: 'gatehouse-log-store-ca' },
      },
    },
  ],
] as const;

describe.each(COMPONENTS)('the kustomize component %s', (name, values) => {
  const component = join(FOLDER, name);
  let having: Map<string, string>;
  beforeAll(async () => {
    having = baseFiles(await render(values));
  });
  const changed = (): Map<string, string> =>
    new Map([...asInDeploy(having)].filter(([file, text]) => text !== asInDeploy(files).get(file)));

  test('equals what the chart renders otherwise or in addition with it, file by file', async () => {
    for (const [file, text] of changed()) await expect(text).toMatchFileSnapshot(join(component, file));
    expect(readdirSync(component).toSorted()).toEqual([...changed().keys(), 'kustomization.yaml'].toSorted());
  });

  test('makes of the base what the chart renders with it', async () => {
    const { folder } = temporaryFolder();
    const kustomization = { resources: [relative(folder, FOLDER)], components: [relative(folder, component)] };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    expect(await build(folder)).toEqual(byName([...objectsOf(having), namespace]));
  });

  test('gives way to a patch of the configuration, which has a name of its own', async () => {
    const { folder } = temporaryFolder();
    const kustomization = {
      resources: [relative(folder, FOLDER)],
      components: [relative(folder, component)],
      patches: [{ path: 'patch.yaml' }],
    };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    const names = new Set<string>();
    for (const text of ['log: {level: warn}\n', 'log: {level: debug}\n']) {
      const metadata = { name: 'gatehouse-config', namespace: NAMESPACE };
      const patch = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'config.yaml': text } };
      writeFileSync(join(folder, 'patch.yaml'), JSON.stringify(patch));
      const built = new Rendered(await runTool(await clusterTool('kubectl'), ['kustomize', folder]));
      const { metadata: named, immutable, data } = built.one<V1ConfigMap>('ConfigMap');
      const { volumes } = built.pod;
      expect(volumes?.find(({ name: is }) => is === 'config')?.configMap?.name).toBe(named?.name);
      expect(named!.annotations).toEqual(NOT_PRUNED);
      expect({ immutable, data }).toEqual({ immutable: true, data: { 'config.yaml': text } });
      names.add(named!.name!);
    }
    expect(names.size).toBe(2);
  });
});
