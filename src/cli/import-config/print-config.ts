import { Document, isScalar, isSeq } from 'yaml';

/** One setting of the new file, with the reason for it. */
export interface PrintedSetting {
  /** Its name with dots. */
  readonly name: string;
  readonly value: unknown;
  readonly comment: string;
}

const HEAD = [
  ' Made from a configuration of KubeSphere by "gatehouse import-config". Check it with "gatehouse --check-config --config FILE".',
  ' It has no secret. What each comment says is about the old file.',
  ' To do besides: docs/migrating-from-kubesphere.md.',
];

/** Longer lines are hard to read in an editor; texts are never folded, because a comment of a folded text would be ambiguous. */
const WIDE = 1_000;

interface PrintedNotes {
  readonly changed: readonly string[];
  readonly leftOut: readonly string[];
  /** The first lines. Default: those of a configuration file. */
  readonly head?: readonly string[];
}

/** Writes the settings as YAML, with what was changed and what was left out at the end. */
export function printConfig(
  settings: readonly PrintedSetting[],
  { changed, leftOut, head = HEAD }: PrintedNotes,
): string {
  const document = new Document(nested(settings));
  document.commentBefore = head.join('\n');
  for (const { name, comment } of settings) {
    const node = document.getIn(name.split('.'), true);
    if (isScalar(node)) node.comment = ` ${oneLine(comment)}`;
    else if (isSeq(node)) node.commentBefore = ` ${oneLine(comment)}`;
  }
  const lists = [...listed('Changed', changed), ...listed('Left out', leftOut)];
  return `${document.toString({ lineWidth: WIDE })}${lists.join('\n')}${lists.length > 0 ? '\n' : ''}`;
}

/** Sections as maps in maps. */
function nested(settings: readonly PrintedSetting[]): Section {
  const root: Section = {};
  for (const { name, value } of settings) {
    const sections = name.split('.');
    const key = sections.pop() ?? '';
    let section = root;
    for (const one of sections) {
      section[one] ??= {};
      section = section[one] as Section;
    }
    section[key] = value;
  }
  return root;
}

type Section = Record<string, unknown>;

const listed = (title: string, entries: readonly string[]): readonly string[] =>
  entries.length === 0 ? [] : ['', `# ${title}:`, ...entries.map((entry) => `# - ${oneLine(entry)}`)];

/** A name of the old file may have any characters, line breaks among them, and must not end the comment. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 500);
