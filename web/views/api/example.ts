import { type Description, type Operation, resolved, type Schema } from './description.ts';

/** Deeper than that an example helps nobody, and a schema that contains itself comes to an end. */
const DEEPEST = 6;

/** An example of a body, as text to begin with: the one of the description, else one made of the schema. */
export function exampleText({ body }: Operation, description: Description): string {
  if (!body) return '';
  const { media, contentType } = body;
  const [first] = Object.values(media.examples ?? {});
  const value = media.example ?? first?.value ?? (media.schema && exampleOf(media.schema, description));
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  return contentType === 'application/x-www-form-urlencoded'
    ? String(new URLSearchParams(Object.entries(value as object).map(([name, one]) => [name, String(one)])))
    : JSON.stringify(value, null, 2);
}

/** A value that the schema describes. Members that need not be there are left out, unless the schema says nothing of any that must. */
export function exampleOf(schema: Schema, description: Description, depth = 0): unknown {
  const own = resolved<Schema>(schema as Schema & { readonly $ref: string }, description) ?? {};
  const given = own.example ?? own.examples?.[0] ?? own.const ?? own.default ?? own.enum?.[0];
  if (given !== undefined) return given;
  if (depth > DEEPEST) return null;
  if (own.allOf) return Object.assign({}, ...own.allOf.map((one) => exampleOf(one, description, depth + 1)));
  const [first] = own.oneOf ?? own.anyOf ?? [];
  if (first && !own.properties) return exampleOf(first, description, depth + 1);
  const [type] = [own.type ?? (own.properties ? 'object' : 'string')].flat();
  if (type === 'object') return objectOf(own, description, depth);
  if (type === 'array') return own.items ? [exampleOf(own.items, description, depth + 1)] : [];
  return SIMPLE[type ?? ''] ?? own.minimum ?? (type === 'string' ? 'text' : 0);
}

const SIMPLE: Readonly<Record<string, unknown>> = { boolean: true };

function objectOf({ properties = {}, required = [] }: Schema, description: Description, depth: number): object {
  const all = Object.entries(properties);
  const needed = all.filter(([name]) => required.includes(name));
  const shown = needed.length > 0 ? needed : all;
  return Object.fromEntries(shown.map(([name, one]) => [name, exampleOf(one, description, depth + 1)]));
}
