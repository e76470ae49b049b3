import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { withAlerts } from '../../dev/monitoring/alerts-table.ts';
import { dashboardJson } from '../../dev/monitoring/dashboard.ts';
import { ROWS } from '../../dev/monitoring/panels.ts';

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

interface Alert {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const RULES = read('charts/gatehouse/files/rules.yaml');
const ALERTS = (parse(RULES) as { groups: { rules: Alert[] }[] }).groups.flatMap(({ rules }) => rules);
const PAGE = read('docs/operations/monitoring.md');
const RUNBOOKS = read('docs/operations/runbooks.md');
const VALUES = parse(read('charts/gatehouse/values.yaml')) as { prometheusRule: { runbookUrl: string } };

/** The text under this heading. */
const sectionOf = (heading: string): string => RUNBOOKS.split(`\n## ${heading}\n`)[1]?.split(/\n##+ /)[0] ?? '';

describe('docs/operations', () => {
  test('has the alerts of the rules file in its table (npm run monitoring:write)', () => {
    expect(withAlerts(PAGE, RULES)).toBe(PAGE);
  });

  test('has the runbooks in the order of the rules file, and no other', () => {
    expect([...RUNBOOKS.matchAll(/^## (Gatehouse\w+)$/gm)].map(([, name]) => name)).toEqual(
      ALERTS.map(({ alert }) => alert),
    );
  });
});

test('docs/chart-comparison.md says how many alerts there are', () => {
  const [, count] = /^\| alerts \| `prometheusRule\.enabled`: (\d+),/m.exec(read('docs/chart-comparison.md')) ?? [];
  expect(Number(count)).toBe(ALERTS.length);
});

describe.each(ALERTS)('alert $alert', ({ alert, labels, annotations }) => {
  test('has a severity, and says in whole sentences what is the matter', () => {
    expect(['critical', 'warning', 'info']).toContain(labels['severity']);
    for (const name of ['summary', 'description'])
      expect([name, annotations[name]]).toEqual([name, expect.stringMatching(/\.$/)]);
    expect(annotations['summary']).not.toContain('{{');
  });

  test('links to its runbook, which says what it means, where to look and what to do', () => {
    expect(annotations['runbook_url']).toBe(`${VALUES.prometheusRule.runbookUrl}#${alert.toLowerCase()}`);
    const runbook = sectionOf(alert);
    expect(runbook).toMatch(/^\nMeans: /);
    expect(runbook).toMatch(/\n\nLook(: | and do: )/);
    expect(runbook).toMatch(/\n\n(Do:[ \n]|Look and do: )/);
  });
});

describe('the dashboard', () => {
  test('is what is generated from its panels (npm run monitoring:write)', () => {
    expect(read('charts/gatehouse/files/dashboard.json')).toBe(dashboardJson());
  });

  test('has a name and an explanation for each panel, and shows metrics of the contract', () => {
    const panels = ROWS.flatMap(({ panels }) => panels);
    for (const { title, description } of panels)
      expect([title, description]).toEqual([title, expect.stringMatching(/\.$/)]);
    const contract = read('docs/contract/http.md');
    const names = panels.flatMap(({ queries }) => queries.flatMap(({ expr }) => expr.match(/\bgatehouse_\w+/g) ?? []));
    const unknown = names.filter(
      (name) => !contract.includes(name.replace(/^gatehouse_/, '').replace(/_(?:bucket|count)$/, '')),
    );
    expect(unknown).toEqual([]);
  });
});
