import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { parse } from 'yaml';

type Json = Record<string, unknown>;

export interface Operation {
  readonly parameters?: readonly { readonly $ref?: string; readonly name?: string; readonly in?: string }[];
  readonly responses: Record<string, Json>;
  readonly security?: readonly Json[];
}

interface Description {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly security: readonly Json[];
  readonly components: Record<string, Record<string, Json>>;
}

export const descriptionText = readFileSync('api/platform.openapi.yaml', 'utf8');
const description = parse(descriptionText) as Description;

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/** `GET /path` of everything that is described. HEAD and OPTIONS follow from a rule and are not described one by one. */
export function describedOperations(): Map<string, Operation> {
  const operations = new Map<string, Operation>();
  for (const [path, item] of Object.entries(description.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) operations.set(`${method.toUpperCase()} ${path}`, operation);
    }
  }
  return operations;
}

/** Follows one reference into the components. */
export function resolve<T>(node: T | { readonly $ref?: string }): T {
  const reference = (node as { $ref?: string }).$ref;
  if (reference === undefined) return node as T;
  const path = reference.replace('#/', '').split('/');
  return path.reduce((at: unknown, key) => (at as Json)[key], description) as T;
}

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema({ $id: 'platform', components: description.components } as object);
const validators = new Map<unknown, ValidateFunction>();

/** Problems of `value` under a schema of the description; none when it fits. */
export function problems(schema: unknown, value: unknown): string[] {
  const rooted = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"platform#/')) as object;
  const validate = validators.get(schema) ?? ajv.compile(rooted);
  validators.set(schema, validate);
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** Problems of a real answer: its status, its headers and its body against what the operation describes. */
export async function answerProblems(operation: Operation, answer: Response): Promise<string[]> {
  const described = operation.responses[String(answer.status)] ?? operation.responses['default'];
  if (!described) return [`status ${answer.status} is not described`];
  const response = resolve<Json>(described);
  const found: string[] = [];
  for (const [name, header] of Object.entries((response['headers'] ?? {}) as Record<string, Json>)) {
    const value = answer.headers.get(name);
    // `fetch` hides hop-by-hop headers from nobody, but a kept connection may add its own.
    const { schema, required } = resolve<Json>(header);
    // A header that is described comes always, unless the description says otherwise.
    if (value !== null) found.push(...problems(schema, value).map((problem) => `header ${name}${problem}`));
    else if (required !== false) found.push(`header ${name} is missing`);
  }
  const content = response['content'] as Record<string, Json> | undefined;
  const text = await answer.text();
  if (!content) return text === '' ? found : [...found, 'there is a body'];
  const type = (answer.headers.get('content-type') ?? '').split(';')[0] as string;
  const media = content[type] ?? content['*/*'];
  if (!media) return [...found, `content type ${type} is not described`];
  const read = READERS[type] ?? String;
  return [...found, ...problems(media['schema'], read(text))];
}

/** How a body of a media type is read; any other is text. */
const READERS: Record<string, (text: string) => unknown> = {
  'application/json': JSON.parse,
  'application/yaml': parse,
};

/** Every example of the description, with its schema and a name. */
export function examples(): { readonly at: string; readonly schema: unknown; readonly value: unknown }[] {
  const found: { at: string; schema: unknown; value: unknown }[] = [];
  const walk = (node: unknown, at: string): void => {
    if (Array.isArray(node)) for (const [index, item] of node.entries()) walk(item, `${at}/${index}`);
    if (node === null || typeof node !== 'object' || Array.isArray(node)) return;
    const { schema, example, examples: named } = node as { schema?: unknown; example?: unknown; examples?: Json };
    if (schema !== undefined && example !== undefined) found.push({ at, schema, value: example });
    for (const [name, item] of Object.entries(schema === undefined ? {} : (named ?? {}))) {
      found.push({ at: `${at} ${name}`, schema, value: (item as Json)['value'] });
    }
    for (const [key, child] of Object.entries(node)) walk(child, `${at}/${key}`);
  };
  walk(description, '');
  return found;
}
