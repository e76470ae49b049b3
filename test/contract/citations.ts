import { existsSync, globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

const ROOT = new URL('../../', import.meta.url);

/** The pages whose rows define ids. */
const PAGES = ['docs/promises.md', 'docs/chaos.md', 'docs/contract/*.md'];

/** What people write; recorded answers of other servers and what tools write are none of it. */
const WRITTEN = [
  '{src,test,bench,dev,docs,charts,deploy,api}/**/*.{ts,md,yaml,yml,tpl,txt,go}',
  '*.{md,ts}',
  'Dockerfile',
];

/**
 * One or two capitals, a hyphen and two or three digits (`N-36`, `NE-21`), or a capital I or F and a digit (`I6`). `P-256` is a
 * curve; three letters are no family (UTF-8, SHA-256, RFC-…, DNS-1123).
 */
const ID = String.raw`(?:(?!P-)[A-Z]{1,2}-\d{2,3}|[IF]\d)`;
const CITED = new RegExp(String.raw`(?<![\w%.-])${ID}(?![\w-])`, 'g');
const DEFINED = new RegExp(String.raw`^\| (${ID}(?:, ${ID})*) \|`, 'gm');

/** A section by its number, and where it leads when it is the end of a link's text. */
const SECTION = /(?:\bsections?\s+|§\s?)(\d+(?:\.\d+)*)(?:\]\(([^)\s]+)\))?/gi;
const LONGEST_NAME = 80;
const STANDARD = /(?:RFC \d+|OpenID Connect [A-Z]\w+),? $/;
const NAMED_PAGE = /(?:^|[\s"'`(])([\w/.-]+\.md),? $/;

export interface Source {
  /** From the root of the project. */
  readonly file: string;
  readonly text: string;
}

export const writtenSources = (): readonly Source[] =>
  globSync(WRITTEN, { cwd: ROOT, exclude: (path) => path.includes('node_modules') }).map(readSource);

const readSource = (file: string): Source => ({ file, text: readFileSync(new URL(file, ROOT), 'utf8') });

/** Every id that begins a row of a page of promises; a row may have several, with commas between. */
export function definedIds(): ReadonlySet<string> {
  const pages = globSync(PAGES, { cwd: ROOT }).map(readSource);
  const cells = pages.flatMap(({ text }) => [...text.matchAll(DEFINED)].map(([, cell = '']) => cell));
  return new Set(cells.flatMap((cell) => cell.split(', ')));
}

/** The ids of a text that no page defines, as `file: id`. */
export function unknownIds({ file, text }: Source, defined: ReadonlySet<string>): string[] {
  const cited = new Set([...text.matchAll(CITED)].map(([id]) => id));
  return [...cited].filter((id) => !defined.has(id)).map((id) => `${file}: ${id}`);
}

/**
 * The references to sections (by their numbers) that name no page, or a page without that section, as `file: words`. A standard has
 * its own sections: only its name is wanted.
 */
export function unnamedSections({ file, text }: Source): string[] {
  const oneLine = text.replaceAll(/\n[ \t]*(?:\*|\/\/|#(?!#))?[ \t]*/g, ' ');
  return [...oneLine.matchAll(SECTION)].flatMap(({ 0: words, 1: number = '', 2: target, index }) => {
    const before = oneLine.slice(Math.max(0, index - LONGEST_NAME), index);
    const isFound = target === undefined ? isNamed(before, number) : isHeading(target, number, file);
    return isFound ? [] : [`${file}: …${before.slice(-40)}${words}`];
  });
}

function isNamed(before: string, number: string): boolean {
  if (STANDARD.test(before)) return true;
  const [, page] = NAMED_PAGE.exec(before.replaceAll('`', '')) ?? [];
  return page !== undefined && headingsOf(page).some((heading) => numberOf(heading) === number);
}

/** A link to the heading of that number, on the same page or on another one. */
function isHeading(target: string, number: string, file: string): boolean {
  const [page = '', anchor] = target.split('#');
  const linked = page === '' ? file : posix.join(posix.dirname(file), page);
  return headingsOf(linked).some((heading) => toAnchor(heading) === anchor && numberOf(heading) === number);
}

function headingsOf(page: string): string[] {
  if (!existsSync(new URL(page, ROOT))) return [];
  return [...readSource(page).text.matchAll(/^#{2,4} (.+)$/gm)].map(([, heading = '']) => heading);
}

const numberOf = (heading: string): string | undefined => /^(\d+(?:\.\d+)*)\.? /.exec(heading)?.[1];

/** As GitHub makes them: lower case, without signs, blanks as hyphens. */
export const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
