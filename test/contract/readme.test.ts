import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { configJsonSchema } from '../../src/config/load.ts';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

const readText = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** Every setting that holds a value, as a dotted path; lists of maps as `name[]`. */
function settings(schema: Schema, path: string): string[] {
  const map = schema.properties ? schema : schema.anyOf?.find((one) => one.properties);
  if (map?.properties) {
    return Object.entries(map.properties).flatMap(([name, below]) =>
      settings(below, path === '' ? name : `${path}.${name}`),
    );
  }
  return schema.items?.properties ? settings(schema.items, `${path}[]`) : [path];
}

describe('the documentation of the settings', () => {
  test('in the README names every setting and no other', () => {
    const rows = [...readText('README.md').matchAll(/^\| `([a-z][\w.[\]]+)` \|/gm)].map(([, key = '']) => key);
    const lists = ['authentication.oauthOptions.clients[]'];
    expect(rows.sort()).toEqual([...settings(configJsonSchema() as Schema, ''), ...lists].sort());
  });

  test('of the audit trail names every event once and no other', () => {
    const [, section = ''] = readText('docs/operations.md').split('### The audit trail');
    const cells = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell = '']) => cell);
    const rows = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, event]) => event));
    const names = [...readText('src/security-events.ts').matchAll(/^ {2}\| '([a-z_]+)'/gm)].map(([, event]) => event);
    expect(names.length).toBeGreaterThan(15);
    expect(rows.sort()).toEqual([...names, 'event'].sort()); // the head of a table
  });

  test('as JSON Schema is what the program generates', () => {
    expect(JSON.parse(readText('config.schema.json'))).toEqual(configJsonSchema());
  });
});
