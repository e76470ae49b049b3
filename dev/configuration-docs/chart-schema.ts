import type { Schema } from './page.ts';

/** The schema of a chart's values. */
interface ValuesSchema {
  readonly properties: Readonly<Record<string, Schema>>;
}

/**
 * Puts the schema of the configuration file into the schema of the chart's values, for the value `config`. So Helm refuses what the
 * program would refuse. The schema accepts `firstAdministrator: true`, because the chart refuses it with a sentence that says why.
 */
export function withConfigSchema(values: ValuesSchema, { $schema: _, ...file }: Schema): ValuesSchema {
  const config = withEmptySections(file);
  const users = config.properties?.['users'];
  const administrator = users?.properties?.['firstAdministrator'];
  const alternatives = administrator?.anyOf?.map((one) => (one.const === false ? { type: 'boolean' } : one)) ?? [];
  const lenient = {
    ...users,
    properties: {
      ...users?.properties,
      firstAdministrator: { ...administrator, anyOf: [...alternatives, { type: 'null' }] },
    },
  };
  return {
    ...values,
    properties: { ...values.properties, config: { ...config, properties: { ...config.properties, users: lenient } } },
  };
}

/** Lets sections be empty, which YAML reads as null. Helm removes an empty section before it writes the file. */
function withEmptySections(schema: Schema): Schema {
  const below = Object.entries(schema.properties ?? {}).map(([name, one]) => {
    const inner = withEmptySections(one);
    return [name, one.properties ? { ...inner, type: ['object', 'null'] } : inner] as const;
  });
  return schema.properties ? { ...schema, properties: Object.fromEntries(below) } : schema;
}

/** The limits of a duration, which no JSON Schema can express. `a[].b` is the key `b` of each map in the list `a`. */
interface DurationLimits {
  readonly setting: string;
  readonly minMs: number;
  readonly maxMs: number | undefined;
  readonly limits: string | undefined;
}

/** Every duration of the configuration that has limits, for the chart to check. */
export function durationsOf(schema: Schema, name = ''): DurationLimits[] {
  const { 'x-min-ms': minMs = 0, 'x-max-ms': maxMs, 'x-limits': limits } = schema;
  const own = minMs > 0 || maxMs !== undefined ? [{ setting: name, minMs, maxMs, limits }] : [];
  const list = schema.items ? durationsOf(schema.items, `${name}[]`) : [];
  const alternatives = (schema.anyOf ?? []).flatMap((one) => durationsOf(one, name));
  const below = Object.entries(schema.properties ?? {});
  return [
    ...own,
    ...list,
    ...alternatives,
    ...below.flatMap(([key, one]) => durationsOf(one, name ? `${name}.${key}` : key)),
  ];
}
