import type { z } from 'zod';
import { whyRefused } from './refused-settings.ts';

/** One thing wrong with the file. `path` is empty for the file as a whole. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

/** The file cannot be used; carries every problem at once. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(source: string, problems: readonly Problem[]) {
    const lines = problems.map(({ path, message }) => `  ${path === '' ? '' : `${path}: `}${message}`);
    super([`${source} cannot be used:`, ...lines].join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Writes `['a', 0, 'b']` as `a[0].b`. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** Turns the schema's findings into problems, one for each key. */
export function toProblems(issues: readonly z.core.$ZodIssue[]): Problem[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'invalid_union') return toProblems(lastBranch(issue));
    if (issue.code !== 'unrecognized_keys') return [{ path: pathText(issue.path), message: readable(issue) }];
    return issue.keys.map((key) => {
      const path = pathText([...issue.path, key]);
      return { path, message: whyRefused(path) };
    });
  });
}

/** The findings of the last branch of a union. Our unions list their plain words first and the full form last. */
function lastBranch(issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] {
  const found = issue.errors.at(-1) ?? [];
  return found.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

const KINDS: Readonly<Record<string, string>> = { object: 'a map of settings', array: 'a list', string: 'a text' };

/** Rewords the schema library's own messages so that they can follow a path. */
function readable(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value')
    return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
  // Numbers have messages of their own. Every lower bound of a text or a list is 1.
  if (issue.message.startsWith('Too small: ')) return 'must not be empty';
  if (issue.code === 'too_big' && issue.message.startsWith('Too big: '))
    return `must have at most ${issue.maximum} characters`;
  if (issue.code !== 'invalid_type') return issue.message;
  if (issue.message.endsWith('received undefined')) return 'is required';
  // Our own messages stay as they are.
  return issue.message.startsWith('Invalid input: ')
    ? `expected ${KINDS[issue.expected] ?? issue.expected}`
    : issue.message;
}
