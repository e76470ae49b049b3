import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { configJsonSchema } from '../../../src/config/load.ts';
import { ODD } from './odd-settings.ts';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
}

const isNumber = ({ type, examples }: Schema): boolean =>
  type === 'integer' || type === 'number' || (type === 'string' && examples?.[0] === '30s');

/** The paths of all numbers and durations, e.g. `limits.maxHeaders`; `[]` stands for each entry of a list. */
function numbersOf(schema: Schema, path = ''): string[] {
  if (isNumber(schema)) return [path];
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    numbersOf(inner, path ? `${path}.${name}` : name),
  );
  const listed = schema.items ? numbersOf(schema.items, `${path}[]`) : [];
  const either = (schema.anyOf ?? []).flatMap((one) => numbersOf(one, path));
  return [...new Set([...below, ...listed, ...either])];
}

const numbers = numbersOf(configJsonSchema() as Schema);

/** What is under this path, of every entry where it leads through a list. */
const valuesAt = (value: unknown, path: string): unknown[] =>
  path.split(/\.|(?=\[\])/).reduce<unknown[]>(
    (values, key) =>
      values.flatMap((one) => {
        if (key === '[]') return one as unknown[];
        const inner = (one as Record<string, unknown> | undefined)?.[key];
        return inner === undefined ? [] : [inner];
      }),
    [value],
  );

const titles = globSync('*.test.ts', { cwd: import.meta.dirname })
  .map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
  .join('\n');

describe('every number of the configuration', () => {
  test('is found by the walk over the schema', () => {
    expect(numbers.length).toBeGreaterThan(30);
    expect(numbers).toContain('authentication.oauthOptions.clients[].accessTokenMaxAge');
    expect(numbers).toContain('authentication.oauthOptions.keyRotationPeriod');
  });

  test.each(numbers)('%s has a test here that sees it at the other end', (path) => {
    expect(titles.includes(`test('${path}: `)).toBe(true);
  });

  test.each(numbers.filter((path) => !path.endsWith('ort')))('%s has a value there that no other has', (path) => {
    expect(valuesAt(ODD, path)).toHaveLength(1);
    const all = numbers.flatMap((one) => valuesAt(ODD, one));
    expect(all.filter((value) => value === valuesAt(ODD, path)[0])).toHaveLength(1);
  });
});
