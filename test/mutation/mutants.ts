import { parseSync } from 'oxc-parser';

/** One planted bug: the text from `start` to `end` becomes another, or is left out. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly kind: 'condition' | 'comparison' | 'arithmetic' | 'logic' | 'removed' | 'constant' | 'text' | 'returned';
  readonly was: string;
  /** Of an expression; empty for a statement that is left out. */
  readonly becomes: string;
}

/** A file's mutants, and where the bodies of its loops are: a planted bug may make one endless. */
export interface Mutations {
  readonly mutants: readonly Mutant[];
  readonly loops: readonly { readonly start: number; readonly end: number }[];
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
};
const ARITHMETIC: Readonly<Record<string, string>> = {
  ...{ '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '**': '*' },
  ...{ '&': '|', '|': '&', '<<': '>>', '>>': '<<', '>>>': '<<', '^': '&' },
};
const ASSIGNMENTS: Readonly<Record<string, string>> = { '+=': '-=', '-=': '+=', '??=': '=', '||=': '=', '&&=': '=' };
const LEFT_OUT = ['ExpressionStatement', 'ThrowStatement', 'BreakStatement', 'ContinueStatement'];
const LOOPS = ['ForStatement', 'ForOfStatement', 'ForInStatement', 'WhileStatement', 'DoWhileStatement'];
/** Limits and intervals: one more is no bug that anybody could see, none at all is. */
const LEAST_LIMIT = 1000;

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';
const isText = (node: Node): boolean =>
  node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string');

/** Every mutant of a TypeScript source, outer ones before those inside them. */
export function mutationsOf(file: string, source: string): Mutations {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const finder = new Finder(source);
  finder.visit(program as unknown as Node);
  return finder;
}

class Finder implements Mutations {
  readonly mutants: Mutant[] = [];
  readonly loops: { start: number; end: number }[] = [];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  visit(node: Node): void {
    if (isSkipped(node)) return;
    this.#find(node);
    for (const [member, value] of Object.entries(node)) {
      if (isName(node, member)) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) this.visit(child);
    }
  }

  #find(node: Node): void {
    this.#finders[node.type]?.(node);
  }

  readonly #finders: Readonly<Record<string, (node: Node) => void>> = {
    ...Object.fromEntries(LEFT_OUT.map((type) => [type, (node: Node) => this.#leaveOut(node)])),
    ...Object.fromEntries(LOOPS.map((type) => [type, (node: Node) => this.#loop(node)])),
    BinaryExpression: (node) => this.#operator(node),
    LogicalExpression: (node) => this.#logic(node),
    UnaryExpression: (node) => this.#unary(node),
    UpdateExpression: (node) => this.#swap(node, { '++': '--', '--': '++' }),
    AssignmentExpression: (node) => this.#swap(node, ASSIGNMENTS),
    ChainExpression: (node) => this.#chain(node),
    Literal: (node) => this.#constant(node),
    TemplateLiteral: (node) => this.#constant(node),
    ReturnStatement: (node) => this.#returned(node['argument']),
    ArrowFunctionExpression: (node) => this.#returned(node['body']),
    IfStatement: (node) => this.#condition(node, ['true', 'false']),
    ConditionalExpression: (node) => this.#condition(node, ['true', 'false']),
  };

  #add(kind: Mutant['kind'], { start, end }: Node, becomes: string): void {
    const line = this.#source.slice(0, start).split('\n').length;
    this.mutants.push({ start, end, line, kind, was: this.#source.slice(start, end), becomes });
  }

  #text({ start, end }: Node): string {
    return this.#source.slice(start, end);
  }

  #leaveOut(node: Node): void {
    const { expression } = node as { expression?: Node };
    const isDirective = typeof node['directive'] === 'string';
    const isSuper = expression?.type === 'CallExpression' && (expression['callee'] as Node).type === 'Super';
    if (!isDirective && !isSuper) this.#add('removed', node, '');
  }

  #operator(node: Node): void {
    const { operator, left, right } = node as unknown as { operator: string; left: Node; right: Node };
    const written = (other: string): string => `${this.#text(left)} ${other} ${this.#text(right)}`;
    for (const other of COMPARISONS[operator] ?? []) this.#add('comparison', node, written(other));
    const other = ARITHMETIC[operator];
    if (other && !(operator === '+' && (isText(left) || isText(right)))) this.#add('arithmetic', node, written(other));
  }

  #logic(node: Node): void {
    const { operator, left, right } = node as unknown as { operator: string; left: Node; right: Node };
    if (operator === '??') {
      this.#add('logic', node, this.#text(left));
      this.#add('logic', node, this.#text(right));
      return;
    }
    this.#add('logic', node, `(${this.#text(left)}) ${operator === '&&' ? '||' : '&&'} (${this.#text(right)})`);
  }

  #unary(node: Node): void {
    const argument = node['argument'] as Node;
    if (node['operator'] === '!') this.#add('condition', node, this.#text(argument));
    if (node['operator'] === '-') this.#add('arithmetic', node, this.#text(argument));
  }

  #swap(node: Node, others: Readonly<Record<string, string>>): void {
    const operator = String(node['operator']);
    const other = others[operator];
    if (other) this.#add('arithmetic', node, this.#text(node).replace(operator, other));
  }

  /** `a?.b` without the question. */
  #chain(node: Node): void {
    this.#add('logic', node, this.#text(node).replace('?.[', '[').replace('?.(', '(').replace('?.', '.'));
  }

  #constant(node: Node): void {
    const { value } = node;
    if (typeof value === 'boolean') this.#add('constant', node, String(!value));
    if (typeof value === 'number') this.#add('constant', node, String(value >= LEAST_LIMIT ? 0 : value + 1));
    if (typeof value === 'bigint') this.#add('constant', node, `${value + 1n}n`);
    if (!isText(node)) return;
    // A text of several words is for people: not what it says is tested but that it says it.
    const text = this.#text(node);
    if (!text.includes(' ')) this.#add('text', node, text.length > 2 ? "''" : "'mutant'");
  }

  #returned(value: unknown): void {
    if (!isNode(value) || value.type === 'Literal' || this.#text(value) === 'undefined') return;
    if (!/^(BlockStatement|ArrowFunctionExpression)$/.test(value.type)) this.#add('returned', value, 'undefined');
  }

  #condition(node: Node, outcomes: readonly string[]): void {
    const test = node['test'];
    if (isNode(test)) for (const outcome of outcomes) this.#add('condition', test, outcome);
  }

  #loop(node: Node): void {
    if ((node['test'] as Node | undefined)?.type !== 'Literal') this.#condition(node, ['false']);
    const { start, end } = node['body'] as Node;
    this.loops.push({ start, end });
  }
}

/** Types, and what is read when the program is put together. */
function isSkipped({ type }: Node): boolean {
  if (/^TS(As|Satisfies|NonNull)|^TSParameterProperty$/.test(type)) return false;
  return type.startsWith('TS') || /^(Import|ExportAll)/.test(type);
}

/** Names are no expressions, and what is deleted or assigned to cannot be another thing. */
function isName(node: Node, member: string): boolean {
  const isProperty = /^(Property|PropertyDefinition|MethodDefinition)$/.test(node.type) && member === 'key';
  if (isProperty || (node.type === 'MemberExpression' && member === 'property')) return node['computed'] !== true;
  return (
    (node.type === 'UnaryExpression' && node['operator'] === 'delete') ||
    (node.type === 'UnaryExpression' && node['operator'] === 'typeof') ||
    (node.type === 'BinaryExpression' && (node['left'] as Node)['operator'] === 'typeof' && member === 'right') ||
    (node.type === 'TaggedTemplateExpression' && member === 'quasi') ||
    (node.type === 'ExportNamedDeclaration' && member === 'source')
  );
}
