import { existsSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { type Source, toAnchor } from './citations.ts';

const ROOT = new URL('../../', import.meta.url);
const HOME = 'https://github.com/gatehouse/gatehouse/blob/main/';

/** `[text](target)`, or an image. The target ends at the first blank, where a title would follow. */
const LINK = /\]\(([^)\s]+)/g;
/** A file of ours by its public address. `${…}` and `%s` are filled in later, so such an address is not whole. */
const PUBLIC = new RegExp(`${HOME.replaceAll('.', String.raw`\.`)}([\\w./-]+)(#[\\w-]+)?`, 'g');
/** A page of docs/ by its path, as comments and messages name it. */
const PAGE = /(?<![\w/.-])docs\/[\w/-]+\.md\b/g;
const ANYWHERE = /^[a-z]+:/;

/** The targets in a text that lead to no file, or to no heading of their page, as `file: target`. */
export function brokenLinks({ file, text }: Source): string[] {
  const folder = posix.dirname(file);
  const relative = file.endsWith('.md') ? [...withoutCode(text).matchAll(LINK)].map(([, target = '']) => target) : [];
  const isBroken = (target: string): boolean => {
    const [path = '', anchor] = target.split('#');
    return !leads(path === '' ? file : posix.join(folder, path), anchor, text, file);
  };
  return [
    ...relative.filter((target) => !ANYWHERE.test(target) && isBroken(target)),
    ...[...text.matchAll(PUBLIC)]
      .filter(([, path = '', anchor]) => !leads(path, anchor?.slice(1), text, file))
      .map(([address]) => address),
    ...[...text.matchAll(PAGE)].map(([path]) => path).filter((path) => !existsSync(new URL(path, ROOT))),
  ].map((target) => `${file}: ${target}`);
}

/** Whether there is such a file and, with an anchor, such a heading. The text of the file at hand may be a planted one. */
function leads(path: string, anchor: string | undefined, text: string, file: string): boolean {
  const url = new URL(path, ROOT);
  if (!existsSync(url)) return false;
  if (anchor === undefined || statSync(url).isDirectory()) return anchor === undefined;
  return anchorsOf(path === file ? text : readFileSync(url, 'utf8')).includes(anchor);
}

/** GitHub numbers the anchors of headings that occur again. */
function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutBlocks(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const anchor = toAnchor(heading);
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

const withoutBlocks = (page: string): string => page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
const withoutCode = (page: string): string => withoutBlocks(page).replaceAll(/(`+)(?!`)[\s\S]*?\1/g, '``');
