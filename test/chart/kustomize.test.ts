import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { clusterTool } from '../support/cluster-tools.ts';
import { runTool } from '../support/control-plane/clients.ts';
import { type Manifest, NAMESPACE, type Rendered, render } from './helm.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'deploy');

/**
 * The chart's files without what is Helm's own: the source comments and the labels that say that Helm manages the object.
 * By file name, as in deploy/.
 */
function baseFiles(rendered: Rendered): Map<string, string> {
  const parts = rendered.text.split(/^---\n# Source: gatehouse\/templates\//m).slice(1);
  return new Map(
    parts.map((part) => {
      const [name = '', ...lines] = part.trimEnd().split('\n');
      const kept = lines.filter((line) => !/^ +(helm\.sh\/chart|app\.kubernetes\.io\/managed-by): /.test(line));
      return [name, `${kept.join('\n')}\n`];
    }),
  );
}

async function build(folder: string): Promise<Manifest[]> {
  const built = await runTool(await clusterTool('kubectl'), ['kustomize', folder]);
  return byName(parseAllDocuments(built).map((document) => document.toJS() as Manifest));
}

const byName = (list: readonly Manifest[]): Manifest[] =>
  list.toSorted((a, b) => `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`));
const objectsOf = (files: ReadonlyMap<string, string>): Manifest[] =>
  [...files.values()].map((text) => parse(text) as Manifest);

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
    for (const [name, text] of files) await expect(text).toMatchFileSnapshot(join(FOLDER, name));
  });

  test('and the role that the cluster tier gives to a single replica equals the chart’s for sessions in memory', async () => {
    const role = baseFiles(await render({ sessions: { store: 'memory' } })).get('role.yaml');
    await expect(role).toMatchFileSnapshot(join(FOLDER, '..', 'test', 'cluster', 'memory-sessions-role.yaml'));
  });

  test('has a file for each of the chart’s, and the namespace', () => {
    const expected = [...files.keys(), 'accounts', 'gateway', 'logging', 'kustomization.yaml', 'namespace.yaml'];
    expect(readdirSync(FOLDER).toSorted()).toEqual(expected.toSorted());
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
  const changed = (): string[] => [...having.keys()].filter((file) => having.get(file) !== files.get(file)).toSorted();

  test('equals what the chart renders otherwise or in addition with it, file by file', async () => {
    for (const file of changed()) await expect(having.get(file)).toMatchFileSnapshot(join(component, file));
    expect(readdirSync(component).toSorted()).toEqual([...changed(), 'kustomization.yaml'].toSorted());
  });

  test('makes of the base what the chart renders with it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-kustomization-'));
    const kustomization = { resources: [relative(folder, FOLDER)], components: [relative(folder, component)] };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
    expect(await build(folder)).toEqual(byName([...objectsOf(having), namespace]));
  });
});
