import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CHART, type Manifest, NAMESPACE, render } from './helm.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface RuleGroups {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

type PrometheusRule = Manifest & {
  readonly metadata: { readonly labels: object; readonly annotations?: object };
  readonly spec: RuleGroups;
};

const FILE = parse(readFileSync(join(CHART, 'files', 'rules.yaml'), 'utf8')) as RuleGroups;

/** The PrometheusRule of a release with these values for it. */
const ruleOf = async (prometheusRule: object = {}, release?: string): Promise<PrometheusRule> =>
  (await render({ prometheusRule: { enabled: true, ...prometheusRule } }, release)).one<PrometheusRule>(
    'PrometheusRule',
  );

const rulesOf = ({ groups }: RuleGroups): readonly Rule[] => groups.flatMap(({ rules }) => rules);

describe('the PrometheusRule', () => {
  test('is not there unless it is asked for', async () => {
    expect((await render()).all('PrometheusRule')).toEqual([]);
  });

  test('has exactly the alerts of the rules file', async () => {
    expect((await ruleOf({ selector: 'job="gatehouse"' })).spec).toEqual(FILE);
  });

  test('looks at the pods of its release alone', async () => {
    const rules = rulesOf((await ruleOf({}, 'blue')).spec);
    const selector = `{namespace="${NAMESPACE}",pod=~"blue-gatehouse-[^-]+-[^-]+"`;
    expect(rules.filter(({ expr }) => !expr.includes(selector) || expr.includes('job='))).toEqual([]);
    expect(rules).toHaveLength(rulesOf(FILE).length);
  });

  test('has the labels and annotations that a Prometheus selects it by', async () => {
    const { metadata } = await ruleOf({ labels: { release: 'kps' }, annotations: { a: 'b' } });
    expect(metadata.labels).toMatchObject({ release: 'kps', 'app.kubernetes.io/name': 'gatehouse' });
    expect(metadata.annotations).toEqual({ a: 'b' });
  });

  test('adds labels to every alert, which do not replace its severity', async () => {
    const rules = rulesOf((await ruleOf({ alertLabels: { team: 'platform', severity: 'none' } })).spec);
    expect(rules.map(({ labels }) => labels)).toEqual(
      rulesOf(FILE).map(({ labels }) => ({ ...labels, team: 'platform' })),
    );
  });

  test('leaves out what is disabled, and a group of which nothing is left', async () => {
    const tls = rulesOf(FILE).filter(({ expr }) => expr.includes('_tls_'));
    const { groups } = (await ruleOf({ disabled: tls.map(({ alert }) => alert) })).spec;
    expect(groups.map(({ name }) => name)).toEqual(
      FILE.groups.map(({ name }) => name).filter((name) => name !== 'gatehouse.tls'),
    );
  });

  test('is refused when an alert that does not exist is disabled', async () => {
    await expect(ruleOf({ disabled: ['GatehouseDwon'] })).rejects.toThrow(
      'prometheusRule.disabled names "GatehouseDwon", which is no alert of this chart; docs/operations/monitoring.md lists them.',
    );
  });

  test('links to another page with the runbooks where that is set', async () => {
    const runbookUrl = 'https://wiki.example.com/gatehouse';
    const [first] = rulesOf((await ruleOf({ runbookUrl })).spec);
    expect(first?.annotations['runbook_url']).toBe(`${runbookUrl}#gatehouseabsent`);
  });
});

describe('the dashboard', () => {
  const dashboardOf = async (dashboard: object = {}, values: object = {}) => {
    const rendered = await render({ dashboard: { enabled: true, ...dashboard }, ...values });
    return rendered.all<V1ConfigMap>('ConfigMap').find(({ metadata }) => metadata!.name!.endsWith('-dashboard'))!;
  };

  test('is not there unless it is asked for', async () => {
    const names = (await render()).all<V1ConfigMap>('ConfigMap').map(({ metadata }) => metadata?.name);
    expect(names).toEqual([expect.stringMatching(/^gatehouse-config-/)]);
  });

  test('is the generated file, in a ConfigMap that the sidecar of Grafana finds', async () => {
    const { data, metadata } = await dashboardOf();
    const file = readFileSync(join(CHART, 'files', 'dashboard.json'), 'utf8');
    const dashboard = JSON.parse(data!['gatehouse-system-gatehouse.json']!);
    const own = {
      title: 'Gatehouse (gatehouse-system/gatehouse)',
      uid: expect.stringMatching(/^gatehouse-[0-9a-f]{12}$/),
    };
    expect(dashboard).toEqual({ ...JSON.parse(file), ...own });
    expect(metadata).toMatchObject({
      name: 'gatehouse-dashboard',
      namespace: NAMESPACE,
      labels: { grafana_dashboard: '1' },
    });
  });

  test('differs from that of another release in name, file, title and uid, since both may go to one Grafana', async () => {
    const all = await Promise.all(
      ['blue', 'green'].map((fullnameOverride) => dashboardOf({ namespace: 'monitoring' }, { fullnameOverride })),
    );
    const marks = all.map(({ metadata, data }) => {
      const [[file, text]] = Object.entries(data!) as [[string, string]];
      const { title, uid } = JSON.parse(text);
      return { name: metadata!.name, file, title, uid };
    });
    for (const mark of ['name', 'file', 'title', 'uid'] as const) expect(marks[0]![mark]).not.toBe(marks[1]![mark]);
    expect(marks.map(({ name }) => name)).toEqual([
      'gatehouse-system-blue-dashboard',
      'gatehouse-system-green-dashboard',
    ]);
  });

  test('goes where the sidecar looks, with its labels and annotations', async () => {
    const { metadata } = await dashboardOf({
      namespace: 'monitoring',
      labels: { a: 'b' },
      annotations: { folder: 'c' },
    });
    expect(metadata).toMatchObject({ namespace: 'monitoring', labels: { a: 'b' }, annotations: { folder: 'c' } });
  });
});
