/** A piece of a line of a log: plain text, a control character made visible, or what was looked for. */
export interface TextPiece {
  readonly kind: 'plain' | 'control' | 'hit';
  readonly text: string;
}

/** What is shown of a line at first: some ten lines on a screen. */
const SHOWN = 2_000;

/**
 * What a terminal, or the layout of text, takes for an order: sequences that begin with an escape (ECMA-48 5.4, 5.6), other control characters but
 * tabs and line ends, and the characters that change the direction of text (UAX 9), by which a line could look like another one.
 */
const CONTROLS = new RegExp(
  [
    String.raw`\u001b\[[0-?]*[ -/]*[@-~]`,
    String.raw`\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)`,
    String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]`,
  ].join('|'),
  'g',
);

/**
 * The text with every control character of ASCII in caret notation (`^[[31m`, as terminals and editors write it: the pictures of Unicode are in
 * few fonts), and every other one by its number (`<U+202E>`).
 */
export const withCarets = (text: string): string =>
  text.replaceAll(CONTROLS, (sequence) => [...sequence].map(visible).join(''));

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `^${String.fromCodePoint(code ^ 0x40)}`;
  const isVisible = code < 0x7f || (code > 0xa0 && !/[\p{Cf}\p{Zl}\p{Zp}]/u.test(character));
  return isVisible ? character : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** The text of a record without the end of its last line. */
export const withoutLineEnd = (text: string): string => text.replace(/\r?\n$/, '');

/** The first part of a line that is too long to be shown at once; the line itself if it is not. Never cuts a character in two. */
export function cutLine(text: string): string {
  if (text.length <= SHOWN) return text;
  const last = text.charCodeAt(SHOWN - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? SHOWN - 1 : SHOWN);
}

/** Cuts a line into plain text, visible control characters and what matches `wanted` (a pattern with the flag `g`). Joined, they are the line as it is shown. */
export function piecesOf(line: string, wanted?: RegExp): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const { 0: sequence, index } of line.matchAll(CONTROLS)) {
    mark(line.slice(from, index), wanted, pieces);
    pieces.push({ kind: 'control', text: withCarets(sequence) });
    from = index + sequence.length;
  }
  mark(line.slice(from), wanted, pieces);
  return pieces;
}

function mark(text: string, wanted: RegExp | undefined, pieces: TextPiece[]): void {
  let from = 0;
  for (const { 0: hit, index } of wanted ? text.matchAll(wanted) : []) {
    if (index > from) pieces.push({ kind: 'plain', text: text.slice(from, index) });
    if (hit !== '') pieces.push({ kind: 'hit', text: hit });
    from = index + hit.length;
  }
  if (from < text.length) pieces.push({ kind: 'plain', text: text.slice(from) });
}

/** The text as a pattern that matches it alone. */
const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

const NOT_WORD = String.raw`[^\p{L}\p{N}]+`;

/**
 * The pattern of what a search of the store looks for: commas separate alternatives, several words are a phrase, and what is between words does not
 * count (docs/logs.md). A text without words is meant as it is, as Loki takes it. `undefined`: nothing is looked for.
 */
export function patternOfQuery(query: string): RegExp | undefined {
  const alternatives = query.split(',').flatMap((text) => {
    const words = text.split(new RegExp(NOT_WORD, 'u')).filter((word) => word !== '');
    if (words.length > 0) return [words.map(literal).join(NOT_WORD)];
    return text.trim() === '' ? [] : [literal(text.trim())];
  });
  return alternatives.length === 0 ? undefined : new RegExp(alternatives.join('|'), 'giu');
}

/** The pattern of a text as it is, ignoring case. `undefined`: nothing is looked for. */
export const patternOfText = (text: string): RegExp | undefined =>
  text === '' ? undefined : new RegExp(literal(text), 'giu');
