import { markdownTable } from '../markdown-table.ts';

/** The parts of a JSON Schema that the page uses; `src/config/fields.ts` sets `x-type` and `x-limits`. */
export interface Schema {
  readonly $schema?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly 'x-type'?: string;
  readonly 'x-limits'?: string;
  readonly 'x-min-ms'?: number;
  readonly 'x-max-ms'?: number;
}

/** One row of the page. */
export interface Setting {
  readonly name: string;
  readonly type: string;
  readonly default: string;
  readonly description: string;
  readonly limits: string;
}

const HEAD = `# Configuration

<!-- Written by \`npm run config:docs\` from the schema in src/config. Change the schema, not this page. -->

The configuration is one YAML file, named by \`--config\` or by the variable \`GATEHOUSE_CONFIG\`. Every setting has a default or may be left out, so an empty
file is valid, and so is a section with nothing below it. A name that is not on this page is an error; for settings of KubeSphere 3.4 the message says what to use
instead. \`gatehouse --check-config\` reports all mistakes in the file, and in the files that it names, at once
(exit code 2). Editors can use [config.schema.json](../config.schema.json).

\`a.b\` is the key \`b\` of the map \`a\`; \`a[].b\` is the key \`b\` of each map in the list \`a\`. A *duration* has a unit: \`250ms\`, \`30s\`, \`1h30m\`; only 0 needs none. An *amount of memory* has a unit of Kubernetes: \`256Mi\`, \`1Gi\`. A *path* is a file
path inside the container or on the machine where the program runs. For the users file see [operations/users.md](operations/users.md#users).
`;

/** docs/configuration.md, from the JSON Schema of the file: a table for each section. */
export function configurationPage(schema: Schema): string {
  const sections = Object.entries(schema.properties ?? {});
  const isSection = ([, below]: [string, Schema]): boolean => below.properties !== undefined;
  const alone = sections.filter((one) => !isSection(one)).flatMap(([name, below]) => settingsOf(name, below));
  const parts = sections
    .filter(isSection)
    .map(([name, below]) => [`## ${name}`, below.description ?? '', table(settingsOf(name, below))]);
  return [HEAD, table(alone), ...parts.flat()].join('\n\n').replaceAll(/\n{3,}/g, '\n\n');
}

function table(settings: readonly Setting[]): string {
  const rows = settings.map((one) => [`\`${one.name}\``, one.type, one.default, one.description, one.limits]);
  return `${markdownTable(['setting', 'type', 'default', 'what it does', 'limits'], rows)}\n`;
}

/** Every setting that has a value. A section has no value, because it only groups settings. */
export function settingsOf(name: string, schema: Schema, isRequired = false): Setting[] {
  const list = mapIn(schema.items);
  const map = list ?? mapIn(schema);
  const below = Object.entries(map?.properties ?? {}).flatMap(([key, one]) =>
    settingsOf(`${name}${list ? '[]' : ''}.${key}`, one, map?.required?.includes(key)),
  );
  return isSection(schema) ? below : [toSetting(name, schema, isRequired), ...below];
}

/** The schema of a value that is a map, if the value may be one. */
const mapIn = (schema: Schema | undefined): Schema | undefined =>
  schema && [schema, ...(schema.anyOf ?? [])].find((one) => one.properties);

/** Whether a schema is that of a section: a map that gets its defaults when the file does not have it. */
const isSection = ({ properties, default: usual }: Schema): boolean => properties !== undefined && usual !== undefined;

/** Matches a computed default, which the schema has only at the end of the description. */
const COMPUTED = / ?Default: (.+)\.$/;

function toSetting(name: string, schema: Schema, isRequired: boolean): Setting {
  const { description = '', default: usual } = schema;
  const given = usual === undefined ? undefined : code(usual);
  return {
    name,
    type: typeOf(schema),
    default: COMPUTED.exec(description)?.[1] ?? given ?? (isRequired ? 'required' : '–'),
    description: description.replace(COMPUTED, ''),
    limits: limitsOf(schema),
  };
}

const code = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

const WORDS: Readonly<Record<string, string>> = { object: 'map', string: 'text', integer: 'whole number' };

function typeOf(schema: Schema): string {
  if (schema['x-type']) return schema['x-type'];
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.enum) return schema.enum.map(code).join(', ');
  if (schema.const !== undefined) return code(schema.const);
  if (schema.type === 'array') return `list of ${schema.items?.properties ? 'maps' : typeOf(schema.items ?? {})}`;
  const type = String(schema.type ?? '');
  return WORDS[type] ?? type;
}

function limitsOf(schema: Schema): string {
  if (schema['x-limits']) return schema['x-limits'];
  if (schema.anyOf) return schema.anyOf.map(limitsOf).filter(Boolean).join('; ');
  if (schema.type === 'array') {
    const each = schema.items?.properties ? '' : limitsOf(schema.items ?? {});
    return [schema.minItems ? `at least ${schema.minItems}` : '', each && `each ${each}`].filter(Boolean).join('; ');
  }
  if (schema.minimum !== undefined) return `${schema.minimum} to ${schema.maximum}`;
  if (schema.maxLength !== undefined) return `${schema.minLength ?? 0} to ${schema.maxLength} characters`;
  return schema.minLength ? 'not empty' : '';
}
