import { describe, expect, it } from 'vitest';
import { cutLine, patternOfQuery, piecesOf, withCarets, withoutLineEnd } from '../../../../web/logs/log-text.ts';

const shown = (line: string): string =>
  piecesOf(line)
    .map(({ text }) => text)
    .join('');

const marked = (line: string, query: string): string =>
  piecesOf(line, patternOfQuery(query))
    .map(({ kind, text }) => (kind === 'hit' ? `[${text}]` : text))
    .join('');

describe('a line of a log', () => {
  it.each([
    ['a colour', '\u001b[1;31mred\u001b[0m', '^[[1;31mred^[[0m'],
    ['a title of a terminal', 'a\u001b]0;owned\u0007b', 'a^[]0;owned^Gb'],
    ['a link of a terminal', '\u001b]8;;http://x\u001b\\link', '^[]8;;http://x^[\\link'],
    ['an order without an end', '\u001b]0;no end', '^[]0;no end'],
    ['a carriage return', 'safe\rEVIL', 'safe^MEVIL'],
    ['NUL, DEL and C1', '\u0000\u007f\u009b31m', '^@^?<U+009B>31m'],
    ['every other one of ASCII', '\u0001\u0008\u000b\u001a\u001c\u001d\u001e\u001f', '^A^H^K^Z^\\^]^^^_'],
    ['an override of direction', 'a\u202egpj.exe', 'a<U+202E>gpj.exe'],
    ['a line separator', 'a\u2028b', 'a<U+2028>b'],
    ['a byte order mark', '\ufeffa', '<U+FEFF>a'],
    ['tabs, line ends and letters of any kind', 'a\tb\nمرحبا 日本 👩‍👧', 'a\tb\nمرحبا 日本 👩‍👧'],
  ])('shows %s as text', (_, line, text) => {
    expect(shown(line)).toBe(text);
  });

  it('keeps control characters apart from text', () => {
    expect(piecesOf('a\u001b[0mb', /b/g)).toEqual([
      { kind: 'plain', text: 'a' },
      { kind: 'control', text: '^[[0m' },
      { kind: 'hit', text: 'b' },
    ]);
    expect(piecesOf('')).toEqual([]);
  });

  it('of a megabyte without the ends of its orders is read in time that grows with the line only', () => {
    expect(withCarets('\u001b]'.repeat(500_000))).toBe('^[]'.repeat(500_000));
  });

  it.each([
    ['a\n', 'a'],
    ['a\r\n', 'a'],
    ['a\n\n', 'a\n'],
    ['a', 'a'],
  ])('loses the end of its last line only: %j', (line, text) => {
    expect(withoutLineEnd(line)).toBe(text);
  });

  it('is cut when it is very long, but never within a character', () => {
    expect(cutLine('a'.repeat(2_000))).toHaveLength(2_000);
    expect(cutLine('a'.repeat(1_000_000))).toHaveLength(2_000);
    expect(cutLine(`${'a'.repeat(1_999)}👩b`)).toBe('a'.repeat(1_999));
    expect(cutLine(`${'a'.repeat(1_998)}👩b`)).toBe(`${'a'.repeat(1_998)}👩`);
  });
});

describe('what was looked for', () => {
  it.each([
    ['a word, ignoring case', 'ERROR in errors', 'error', '[ERROR] in [error]s'],
    [
      'the words of a phrase with anything between them',
      'declined: "card" 17',
      'declined card',
      '[declined: "card]" 17',
    ],
    ['alternatives', 'cart and card', 'cart,card', '[cart] and [card]'],
    ['a word directly after a colour', '\u001b[33mWARN', 'warn', '^[[33m[WARN]'],
    ['characters that patterns have, as they are', 'a.b axb', 'a.b', '[a.b] axb'],
    ['text without words, as it is', 'a*b (', '*', 'a[*]b ('],
    ['Chinese', '支付失败', '失败', '支付[失败]'],
  ])('is marked: %s', (_, line, query, text) => {
    expect(marked(line, query)).toBe(text);
  });

  it.each(['', ' ', ',', ' , '])('is nothing for %j', (query) => {
    expect(patternOfQuery(query)).toBeUndefined();
  });
});
