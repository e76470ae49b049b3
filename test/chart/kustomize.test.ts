import { readdirSync } from 'node:fs';
import { join } from 'node:path';
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

describe('the kustomize base', () => {
  let files: Map<string, string>;
  beforeAll(async () => {
    files = baseFiles(await render());
  });

  // After a change of the chart, "npm run test:chart -- kustomize --update" writes the files anew.
  test('equals what the chart renders by default, file by file', async () => {
    for (const [name, text] of files) await expect(text).toMatchFileSnapshot(join(FOLDER, name));
  });

  test('and the role that the cluster tier gives to replicas equals the chart’s for shared sessions', async () => {
    const role = baseFiles(await render({ sessions: { store: 'kubernetes' } })).get('role.yaml');
    await expect(role).toMatchFileSnapshot(join(FOLDER, '..', 'test', 'cluster', 'shared-sessions-role.yaml'));
  });

  test('has a file for each of the chart’s, and the namespace', () => {
    const expected = [...files.keys(), 'kustomization.yaml', 'namespace.yaml'];
    expect(readdirSync(FOLDER).toSorted()).toEqual(expected.toSorted());
  });

  test('builds to the same objects as the chart, in a namespace that enforces "restricted"', async () => {
    const built = await runTool(await clusterTool('kubectl'), ['kustomize', FOLDER]);
    const objects = parseAllDocuments(built).map((document) => document.toJS() as Manifest);
    const byName = (list: readonly Manifest[]): Manifest[] =>
      list.toSorted((a, b) => `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`));
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    };
    const fromChart = [...files.values()].map((text) => parse(text) as Manifest);
    expect(byName(objects)).toEqual(byName([...fromChart, namespace]));
  });
});
