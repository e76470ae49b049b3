import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { chartPage, valuesOf } from '../../dev/chart-docs/page.ts';
import { durationsOf, withConfigSchema } from '../../dev/configuration-docs/chart-schema.ts';
import type { Schema } from '../../dev/configuration-docs/page.ts';
import { configJsonSchema } from '../../src/config/load.ts';

const chart = new URL('../../charts/gatehouse/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, chart), 'utf8');
const schema = JSON.parse(read('values.schema.json'));
const { version } = JSON.parse(read('../../package.json')) as { version: string };

describe('the chart', () => {
  test('checks config by the schema that npm run config:docs writes', () => {
    expect(withConfigSchema(schema, configJsonSchema() as Schema)).toEqual(schema);
  });

  test('has no pattern that Helm cannot read: its regular expressions have no lookaround and no back-reference', () => {
    const patterns = [...read('values.schema.json').matchAll(/"pattern": (".*")/g)].map(([, text = '']) =>
      JSON.parse(text),
    );
    expect(patterns.length).toBeGreaterThan(10);
    expect(patterns.filter((pattern: string) => /\(\?(?:[=!]|<[=!])|\\[1-9]/.test(pattern))).toEqual([]);
  });

  test('checks durations by the limits that npm run config:docs writes', () => {
    const durations = durationsOf(configJsonSchema() as Schema);
    expect(JSON.parse(read('files/durations.json'))).toEqual(JSON.parse(JSON.stringify(durations)));
    expect(durations.map(({ setting }) => setting)).toContain(
      'authentication.oauthOptions.clients[].accessTokenMaxAge',
    );
  });

  test('fills in what is left empty from the values that npm run chart:docs writes', () => {
    expect(JSON.parse(read('files/values.json'))).toEqual(parse(read('values.yaml')));
  });

  test('has the README that npm run chart:docs writes', () => {
    expect(read('README.md')).toBe(chartPage(read('Chart.yaml'), read('values.yaml'), schema));
  });

  test('says in its README of each value what it does and of which type it is', () => {
    const rows = valuesOf(read('values.yaml'), schema);
    expect(rows.length).toBeGreaterThan(90);
    expect(rows.filter(({ description, type }) => !description.endsWith('.') || type === '')).toEqual([]);
  });

  test('tells catalogues where it comes from, and names nobody', () => {
    const { home, sources, icon, annotations, maintainers, appVersion } = parse(read('Chart.yaml'));
    expect([home, ...sources, icon].filter((url) => !/^https:\/\//.test(url))).toEqual([]);
    expect(existsSync(new URL(icon.split('/').at(-1), chart))).toBe(true);
    expect(maintainers).toBeUndefined();
    expect(annotations['artifacthub.io/license']).toBe('Apache-2.0');
    expect(parse(annotations['artifacthub.io/images'])[0].image).toBe(`ghcr.io/gatehouse/gatehouse:${appVersion}`);
  });

  describe('beside the four charts of docs/chart-comparison.md', () => {
    const rows = read('../../docs/chart-comparison.md')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .filter((cells) => cells.length === 8 && !/^(what|---)$/.test(cells[1] ?? ''));
    const lacks = (cell = ''): boolean => cell.startsWith('–');

    test('lacks what two of them have only where the page says why it has no meaning here', () => {
      const missing = rows.filter(
        ([, , ours, ...theirs]) => lacks(ours) && theirs.slice(0, 4).filter(lacks).length < 3,
      );
      expect(missing.map(([, what]) => what)).toEqual([
        'more arguments',
        "the host's network",
        'ports of the container',
        'rights without cluster scope',
        'PodSecurityPolicy',
        'leader election',
        'serving certificate that the chart makes itself',
      ]);
      expect(missing.filter(([, , ours = '']) => !/^–; .{20,}/.test(ours))).toEqual([]);
      expect(rows.length).toBeGreaterThan(60);
    });

    test('has the values that the page names', () => {
      const values = valuesOf(read('values.yaml'), schema).map(({ name }) => name);
      const named = rows.flatMap(([, , ours = '']) => [...ours.matchAll(/`([\w.]+)`/g)].map(([, name]) => name));
      // Settings of the program have a page of their own, and a test.
      const ofChart = named.filter((name) => !name?.startsWith('config.'));
      expect(ofChart.filter((name) => !values.includes(name ?? ''))).toEqual([]);
    });
  });

  test('installs the release that it is kept with', () => {
    expect(parse(read('Chart.yaml')).appVersion).toBe(version);
  });
});
