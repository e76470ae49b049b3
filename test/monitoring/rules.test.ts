import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { promtool, RULES_FILE, type Rule, shippedRules } from './promtool.ts';
import { RULE_CASES, type RuleCase, SCRAPED } from './rule-cases.ts';

const RULES = shippedRules();

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-rules-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const labelsText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');

/** With the labels of a scrape. */
const scraped = (name: string): string =>
  name.includes('{') ? name.replace('}', `,${labelsText(SCRAPED)}}`) : `${name}{${labelsText(SCRAPED)}}`;

interface Expected {
  readonly labels: string;
  readonly value: number;
}

type Firing = Readonly<Record<string, readonly Expected[]>>;

/** A test of `promtool test rules` that looks for this alert at these times. */
const unitTest = ({ alert, series }: RuleCase, values: 'fires' | 'silent', expected: Firing): object => ({
  interval: '30s',
  input_series: series.map((one) => ({ series: scraped(one.name), values: one[values] })),
  promql_expr_test: Object.entries(expected).map(([eval_time, exp_samples]) => ({
    expr: `ALERTS{alertname="${alert}",alertstate="firing"}`,
    ...{ eval_time, exp_samples },
  })),
});

/** Empty when the tests pass, else what promtool says. */
async function failuresOf(tests: readonly object[]): Promise<string> {
  const file = { rule_files: [RULES_FILE], evaluation_interval: '30s', tests };
  const path = join(folder, 'test.json'); // JSON is YAML
  writeFileSync(path, JSON.stringify(file));
  const { code, text } = await promtool(['test', 'rules', path]);
  return code === 0 ? '' : text;
}

const firing = (rule: Rule, labels: Readonly<Record<string, string>>): Expected => {
  const all = { alertname: rule.alert, alertstate: 'firing', ...rule.labels, ...labels };
  return { labels: `ALERTS{${labelsText(all)}}`, value: 1 };
};

describe('the rules file', () => {
  test('passes promtool', async () => {
    const { code, text } = await promtool(['check', 'rules', RULES_FILE]);
    expect([code, text]).toEqual([0, expect.stringContaining(`SUCCESS: ${RULES.length} rules found`)]);
  });

  test('has each alert once, and a case here for each', () => {
    expect(RULE_CASES.map(({ alert }) => alert)).toEqual(RULES.map(({ alert }) => alert));
    expect(new Set(RULES.map(({ alert }) => alert)).size).toBe(RULES.length);
  });

  test.each(RULES)('alert $alert looks at the job alone that the chart replaces', ({ expr }) => {
    const selectors = expr.match(/\{[^}]*\}/g) ?? [];
    expect(selectors.length).toBeGreaterThan(0);
    expect(selectors.filter((one) => !one.startsWith('{job="gatehouse"'))).toEqual([]);
    expect(expr.match(/\b(gatehouse|process|nodejs)_\w+(?!\w*\{)/g) ?? []).toEqual([]);
  });
});

describe('alert', () => {
  test.each(RULE_CASES)('$alert fires in time, and is silent with values next to those', async (one) => {
    const rule = RULES.find(({ alert }) => alert === one.alert) as Rule;
    const fires = { [one.notYetAt]: [], [one.at]: [firing(rule, one.labels)] };
    const times = ['2m', '6m', '8m', '15m', '29m', one.at, one.notYetAt];
    const silent = Object.fromEntries(times.map((at) => [at, []]));
    expect(await failuresOf([unitTest(one, 'fires', fires), unitTest(one, 'silent', silent)])).toBe('');
  });
});
