import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { configurationPage, type Schema, settingsOf } from '../../dev/configuration-docs/page.ts';
import { configJsonSchema } from '../../src/config/load.ts';

const readText = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

const schema = configJsonSchema() as Schema;
const settings = Object.entries(schema.properties ?? {}).flatMap(([name, below]) => settingsOf(name, below));

describe('the documentation of the settings', () => {
  test('is what npm run config:docs writes', () => {
    expect(readText('docs/configuration.md')).toBe(configurationPage(schema));
    expect(JSON.parse(readText('config.schema.json'))).toEqual(schema);
  });

  test('says of each what it does, of which type it is and, in what is not obvious, what it may be', () => {
    expect(settings.length).toBeGreaterThan(70);
    const silent = settings.filter(({ type, description }) => type === '' || description === '');
    expect(silent).toEqual([]);
    const open = settings.filter(
      ({ type, limits }) => limits === '' && /^(?:text|duration|path|whole number)$/.test(type),
    );
    expect(open).toEqual([]);
  });

  test('in the README tells of ten settings, with their defaults', () => {
    const rows = [...readText('README.md').matchAll(/^\| `([a-z]\w*(?:\.[\w.]+)?)` \| ([^|]+) \|/gm)];
    expect(rows).toHaveLength(10);
    for (const [, name, value] of rows)
      expect([name, value]).toEqual([name, settings.find((one) => one.name === name)?.default]);
  });

  test('of the audit trail names every event once and no other', () => {
    const [, section = ''] = readText('docs/operations/logs-and-audit.md').split('## The audit trail');
    const cells = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell = '']) => cell);
    const rows = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, event]) => event));
    const names = [...readText('src/security-events.ts').matchAll(/^ {2}\| '([a-z_]+)'/gm)].map(([, event]) => event);
    expect(names.length).toBeGreaterThan(15);
    expect(rows.sort()).toEqual([...names, 'event', 'event'].sort()); // the heads of the two tables
  });
});
