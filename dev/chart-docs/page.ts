import { isMap, isScalar, parse, parseDocument, type YAMLMap } from 'yaml';
import { markdownTable } from '../markdown-table.ts';

/** The parts of Chart.yaml that the page uses. */
interface Chart {
  readonly description: string;
  readonly home: string;
  readonly kubeVersion: string;
}

/** The parts of a JSON Schema that the page uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** One row of the page: a value of the chart. */
export interface Value {
  readonly name: string;
  readonly type: string;
  readonly default: string;
  readonly description: string;
}

/** README.md of the chart, from Chart.yaml, values.yaml with its comments, and values.schema.json. */
export function chartPage(chartYaml: string, valuesYaml: string, schema: Schema): string {
  const rows = valuesOf(valuesYaml, schema).map((one) => [`\`${one.name}\``, one.type, one.default, one.description]);
  const table = markdownTable(['value', 'type', 'default', 'what it does'], rows);
  return `${introduction(parse(chartYaml) as Chart)}\n${table}\n`;
}

const introduction = ({ description, home, kubeVersion }: Chart): string => `# The chart of Gatehouse

<!-- Written by \`npm run chart:docs\` from Chart.yaml, values.yaml and values.schema.json. Change those, not this page. -->

${description}

It needs Kubernetes \`${kubeVersion}\`, and a user who may create ClusterRoles. [The operations pages](${home}/blob/main/docs/operations/README.md) say how
to run, upgrade and repair it.

\`\`\`sh
helm install gatehouse charts/gatehouse --namespace gatehouse-system --create-namespace --set image.repository=REGISTRY/gatehouse   # the image is not published yet
helm test gatehouse --namespace gatehouse-system
helm upgrade gatehouse charts/gatehouse --namespace gatehouse-system --reset-then-reuse-values --set replicaCount=3
helm uninstall gatehouse --namespace gatehouse-system
kubectl --namespace gatehouse-system delete secret -l app.kubernetes.io/managed-by=gatehouse   # what the program made: keys, sessions, the first administrator
\`\`\`

Use \`--reset-then-reuse-values\` and not \`--reuse-values\`: the latter keeps the defaults of the installed chart, so a default that this chart has changed does not take
effect. Give each release a namespace of its own. \`helm template\` refuses values that contradict each other, or name something that does not exist, with an error message.

## Values
`;

/** Every value that has a comment of its own, in the order of the file. A map with a comment is one value. */
export function valuesOf(text: string, schema: Schema): Value[] {
  const lines = text.split('\n');
  const walk = (map: YAMLMap, at: Schema | undefined, prefix: string): Value[] =>
    map.items.flatMap(({ key, value }) => {
      if (!isScalar(key) || !key.range) return [];
      const name = `${prefix}${key.value}`;
      const below = resolved(schema, at?.properties?.[String(key.value)]);
      const description = commentAbove(lines, text.slice(0, key.range[0]).split('\n').length - 1);
      if (!description && isMap(value)) return walk(value as YAMLMap, below, `${name}.`);
      const usual = isMap(value) || !isScalar(value) ? (value as YAMLMap | undefined)?.toJSON() : value.value;
      return [{ name, type: typeOf(below), default: `\`${JSON.stringify(usual)}\``, description }];
    });
  return walk(parseDocument(text).contents as YAMLMap, schema, '');
}

/** The comment that ends right above the line, as one text. */
function commentAbove(lines: readonly string[], line: number): string {
  const above: string[] = [];
  for (let at = line - 1; /^\s*#/.test(lines[at] ?? ''); at--) above.unshift((lines[at] ?? '').replace(/^\s*# ?/, ''));
  return above.join(' ');
}

/** Replaces a schema that only refers to a definition, even if it also allows null, by that definition. */
function resolved(root: Schema, schema: Schema | undefined): Schema | undefined {
  const [one, ...others] = schema?.anyOf ?? [];
  if (one && others.every(({ type }) => type === 'null')) return resolved(root, one);
  return schema?.$ref ? root.definitions?.[schema.$ref.replace('#/definitions/', '')] : schema;
}

const WORDS: Readonly<Record<string, string>> = {
  array: 'list',
  boolean: 'boolean',
  integer: 'whole number',
  object: 'map',
  string: 'text',
};

function typeOf(schema: Schema | undefined): string {
  if (schema?.enum) return schema.enum.map((one) => (one === '' ? 'empty' : `\`${one}\``)).join(', ');
  return [schema?.type ?? []]
    .flat()
    .filter((one) => one !== 'null')
    .map((one) => WORDS[one] ?? one)
    .join(' or ');
}
