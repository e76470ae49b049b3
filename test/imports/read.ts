import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Program, parseSync, Visitor } from 'oxc-parser';

/** One import, however it is written. */
export interface Import {
  readonly line: number;
  /** A file of ours as a path from the project's folder, or a library's name; nothing where only the running program knows. */
  readonly target: string | undefined;
  readonly isOurs: boolean;
  /** It names types, and nothing is left of it when they are taken out. */
  readonly isType: boolean;
}

/** A function, method or arrow function: where its head is, and how many lines it has from there to its end. */
interface FunctionSize {
  readonly line: number;
  readonly lines: number;
}

/** A source file by its path from the project's folder, and what it imports. Parts of Node.js itself are left out. */
export interface Module {
  readonly file: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  readonly functions: readonly FunctionSize[];
}

/** The modules of these folders of a project. */
export function readModules(project: string, folders: readonly string[]): Module[] {
  const sources = folders.map((folder) => `${folder}/**/*.{ts,mts,cts,js,mjs,cjs}`);
  const files = globSync(sources, { cwd: project }).sort();
  return files.map((file) => moduleOf(file, readFileSync(join(project, file), 'utf8')));
}

/** Reads one source. Throws if it does not parse. */
export function moduleOf(file: string, source: string): Module {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const breaks = [...source.matchAll(/\n/g)].map(({ index }) => index);
  const lineAt: LineAt = (offset) => breaks.filter((at) => at < offset).length + 1;
  return {
    file,
    lines: source.replace(/\n$/, '').split('\n').length,
    imports: importsOf(file, program, lineAt),
    functions: functionsOf(program, lineAt),
  };
}

/** The line of a place in the source. */
type LineAt = (offset: number) => number;

function functionsOf(program: Program, lineAt: LineAt): FunctionSize[] {
  const functions: FunctionSize[] = [];
  const add = ({ start, end }: { readonly start: number; readonly end: number }): void => {
    const line = lineAt(start);
    functions.push({ line, lines: lineAt(end) - line + 1 });
  };
  new Visitor({ FunctionDeclaration: add, FunctionExpression: add, ArrowFunctionExpression: add }).visit(program);
  return functions;
}

/** Every import of a source: static, dynamic, of types, `export … from` and `require`. */
function importsOf(file: string, program: Program, lineAt: LineAt): Import[] {
  const imports: Import[] = [];
  const add = (from: Expression, isType = false): void => {
    const specifier = textOf(from);
    if (!specifier?.startsWith('node:'))
      imports.push({ line: lineAt(from.start), ...targetOf(file, specifier), isType });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source, node.importKind === 'type' && node.specifiers.every(isNamed)),
    ExportAllDeclaration: (node) => add(node.source, node.exportKind === 'type'),
    ExportNamedDeclaration: (node) => node.source && add(node.source, node.exportKind === 'type'),
    ImportExpression: (node) => add(node.source),
    TSImportType: (node) => add(node.source, true),
    TSExternalModuleReference: (node) => add(node.expression),
    CallExpression: ({ callee, arguments: [from] }) => {
      if (callee.type === 'Identifier' && callee.name === 'require' && from) add(from);
    },
  }).visit(program);
  return imports;
}

interface Expression {
  readonly type: string;
  readonly start: number;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly cooked: string | null } }[];
}

const isNamed = ({ type }: { readonly type: string }): boolean => type === 'ImportSpecifier';

/** The text of a literal, or of a template in which nothing is filled in. */
function textOf({ value, quasis }: Expression): string | undefined {
  if (quasis?.length === 1) return quasis[0]?.value.cooked ?? undefined;
  return typeof value === 'string' ? value : undefined;
}

function targetOf(file: string, specifier: string | undefined): Pick<Import, 'target' | 'isOurs'> {
  if (specifier?.startsWith('.')) return { target: posix.join(posix.dirname(file), specifier), isOurs: true };
  const [scope, name] = specifier?.split('/') ?? [];
  return { target: scope?.startsWith('@') ? `${scope}/${name}` : scope, isOurs: false };
}
