import { LineCounter, parseDocument, type YAMLParseError } from 'yaml';
import { z } from 'zod';
import type { ReadFile } from './clients.ts';
import { complete } from './complete.ts';
import type { Config, Warnings } from './config.ts';
import { ConfigError, toProblems } from './problem.ts';
import { configSchema, type FileConfig } from './schema.ts';

/**
 * Reads, checks and completes the configuration. Without a path all defaults apply. Throws a `ConfigError` that names
 * every problem of a stage at once: the file's syntax, its keys and values, or the files that it names.
 */
export function loadConfig(path: string | undefined, readFile: ReadFile): { config: Config; warnings: Warnings } {
  const source = path ?? 'the default configuration';
  const file = parseConfig(path === undefined ? '' : readText(path, readFile), source);
  return complete(file, source, readFile);
}

function readText(path: string, readFile: ReadFile): string {
  try {
    return readFile(path);
  } catch (error) {
    throw new ConfigError(path, [{ path: '', message: `cannot read the file: ${(error as Error).message}` }]);
  }
}

function parseConfig(text: string, source: string): FileConfig {
  const yaml = parseYaml(text);
  if ('fault' in yaml) throw new ConfigError(source, [{ path: '', message: yaml.fault }]);
  const parsed = configSchema.safeParse(withoutEmptySections(yaml.content ?? {}, configSchema));
  if (!parsed.success) throw new ConfigError(source, toProblems(parsed.error.issues));
  return parsed.data;
}

/**
 * Leaves out sections that have nothing below them, such as `logging:` in YAML when its settings are commented out. Any other
 * setting without a value stays, and is refused.
 */
function withoutEmptySections(content: unknown, schema: z.core.$ZodType | undefined): unknown {
  const shape = shapeOf(schema);
  if (!shape || typeof content !== 'object' || content === null || Array.isArray(content)) return content;
  const given = Object.entries(content).filter(([key, value]) => value !== null || !shapeOf(shape[key]));
  return Object.fromEntries(given.map(([key, value]) => [key, withoutEmptySections(value, shape[key])]));
}

/** The settings that a section may have; `undefined` when the schema is not a section. */
function shapeOf(schema: z.core.$ZodType | undefined): Readonly<Record<string, z.core.$ZodType>> | undefined {
  if (schema instanceof z.ZodObject) return schema.shape;
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) return shapeOf(schema.def.innerType);
  if (schema instanceof z.ZodUnion) return schema.def.options.map(shapeOf).find(Boolean);
  return undefined;
}

/** The JSON Schema (draft 2020-12) of the file, for editors and for the chart. */
export function configJsonSchema(): unknown {
  return z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' });
}

export type YamlContent = { readonly content: unknown } | { readonly fault: string };

/**
 * Reads one YAML document, or reports the first syntax error: most others follow from it. The message never quotes the
 * text, which may hold a secret.
 */
export function parseYaml(text: string): YamlContent {
  try {
    const lines = new LineCounter();
    const document = parseDocument(text, { prettyErrors: false, lineCounter: lines });
    const [first] = document.errors;
    // Resolving aliases throws for an alias without its anchor, and for too many aliases, with which a small text would
    // unfold to gigabytes.
    return first ? { fault: faultAt(first, lines) } : { content: document.toJS({ maxAliasCount: 100 }) };
  } catch {
    return { fault: 'not YAML: it nests too deep, has an alias without its anchor, or too many aliases' };
  }
}

function faultAt(error: YAMLParseError, lines: LineCounter): string {
  const { line } = lines.linePos(error.pos[0]);
  if (error.code === 'MULTIPLE_DOCS') return `holds a second YAML document at line ${line}; there may be one only`;
  return `not YAML at line ${line}: ${error.message.replace(/: ".*$/s, '')}`;
}
