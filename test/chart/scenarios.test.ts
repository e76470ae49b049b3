import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { selfSigned } from '../support/self-signed.ts';
import { CHART, helm, NAMESPACE, Rendered, render } from './helm.ts';

const FOLDER = join(CHART, 'ci');
const scenarios = readdirSync(FOLDER).map((file) => file.replace('-values.yaml', ''));
const valuesOf = (scenario: string): object =>
  parse(readFileSync(join(FOLDER, `${scenario}-values.yaml`), 'utf8')) ?? {};

const TLS = selfSigned('gatehouse');

/** Kinds that are in no namespace. */
const CLUSTER_WIDE = /^(Cluster|CustomResourceDefinition|ValidatingAdmissionPolicy)/;

/** Paths at which a document says null. */
function nulls(value: unknown, path = ''): string[] {
  if (value === null) return [path];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, inner]) => nulls(inner, `${path}.${key}`));
}

describe.each(scenarios)('scenario %s', (scenario) => {
  test.each(['helm', 'helm3'] as const)('passes the lint of %s', async (tool) => {
    const answer = await helm(['lint', '--strict', CHART, '--values', '-'], JSON.stringify(valuesOf(scenario)), tool);
    expect(answer).toContain('0 chart(s) failed');
  });

  test('renders the same bytes by Helm 3 and 4, but for an empty line at the end of an object', async () => {
    const args = ['template', 'gatehouse', CHART, '--namespace', NAMESPACE, '--values', '-'];
    const [by4, by3] = await Promise.all(
      (['helm', 'helm3'] as const).map((tool) => helm(args, JSON.stringify(valuesOf(scenario)), tool)),
    );
    const withoutLastLines = (text = ''): string => text.replaceAll(/\n+(?=---\n|$)/g, '\n');
    expect(withoutLastLines(by3)).toBe(withoutLastLines(by4));
  });

  test('renders nothing as null, names each object once, and all that has a namespace in that of the release', async () => {
    const args = ['template', 'gatehouse', CHART, '--namespace', NAMESPACE, '--values', '-'];
    const { objects } = new Rendered(await helm(args, JSON.stringify(valuesOf(scenario))));
    expect(objects.flatMap((object) => nulls(object))).toEqual([]);
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const elsewhere = objects.filter(
      ({ kind, metadata }) => metadata.namespace !== (CLUSTER_WIDE.test(kind) ? undefined : NAMESPACE),
    );
    expect(elsewhere).toEqual([]);
  });

  test('renders a configuration file that the program accepts', async () => {
    const rendered = await render(valuesOf(scenario));
    const mounted: Readonly<Record<string, string>> = {
      ...{ 'tls.crt': TLS.cert, 'tls.key': TLS.key },
      token: 'made-up-caller-token',
      'ca.crt': TLS.cert,
    };
    const readFile = (path: string): string =>
      path === 'config.yaml' ? rendered.configFile : (mounted[basename(path)] ?? 'content of a Secret');
    expect(loadConfig('config.yaml', readFile).config.server.port).toBe(9090);
  });
});

describe('rendering', () => {
  test('gives the same bytes each time, so that GitOps sees no change', async () => {
    expect((await render()).text).toBe((await render()).text);
  });

  test('gives the same on an upgrade as on an install', async () => {
    const args = ['template', 'gatehouse', CHART, '--namespace', NAMESPACE, '--skip-tests', '--is-upgrade'];
    expect(new Rendered(await helm(args)).objects).toEqual((await render()).objects);
  });

  test('makes exactly these objects by default', async () => {
    const objects = (await render()).objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(objects.toSorted()).toEqual([
      'ClusterRole gatehouse-system:gatehouse',
      'ClusterRole gatehouse-system:gatehouse:administrators',
      'ClusterRoleBinding gatehouse-system:gatehouse',
      'ClusterRoleBinding gatehouse-system:gatehouse:administrators',
      expect.stringMatching(/^ConfigMap gatehouse-config-[0-9a-f]{10}$/),
      'Deployment gatehouse',
      'PodDisruptionBudget gatehouse',
      'Role gatehouse',
      'RoleBinding gatehouse',
      'Service gatehouse',
      'Service gatehouse-metrics',
      'ServiceAccount gatehouse',
    ]);
  });
});
