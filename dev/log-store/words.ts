/** Marks and characters without a width, which belong to the character before them. */
const MORE = '[[\\p{M}\\p{Cf}]--\\u200b]*';
/** Scripts without spaces, where a whole run is a word, as in Katakana. In Hiragana and Han each character is a word. */
const UNSPACED = '\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
const KATAKANA = '[\\p{sc=Katakana}\\u30fc\\u309b\\u309c]';
const LETTER = `[\\p{Alphabetic}--[\\p{Ideographic}\\p{M}\\p{sc=Katakana}\\u30fc\\p{sc=Hiragana}${UNSPACED}]]`;
const DIGIT = '[\\p{Nd}\\u066b]';
/** These are parts of a word if they are between two letters, or between two digits. */
const QUOTES_AND_DOTS = ".'\\u2018\\u2019\\u2024\\ufe52\\uff07\\uff0e";
const IN_LETTERS = `[:\\u00b7\\u0387\\u055f\\u05f4\\u2027\\ufe13\\ufe55\\uff1a${QUOTES_AND_DOTS}]`;
const IN_DIGITS = `[,;\\u037e\\u0589\\u060c\\u060d\\u066c\\u07f8\\u2044\\ufe10\\ufe14\\ufe50\\ufe54\\uff0c\\uff1b${QUOTES_AND_DOTS}]`;
const JOINER = `(?:[\\p{Pc}\\u202f]${MORE})`;

const RUN = `(?:(?:${LETTER}${MORE}(?:${IN_LETTERS}${MORE}(?=${LETTER}))?|${DIGIT}${MORE}(?:${IN_DIGITS}${MORE}(?=${DIGIT}))?)+|(?:${KATAKANA}${MORE})+)`;
const WORD = new RegExp(
  [
    `${JOINER}*${RUN}(?:${JOINER}+${RUN})*${JOINER}*`,
    `[${UNSPACED}][${UNSPACED}\\p{M}\\p{Cf}]*`,
    `[\\p{sc=Han}\\p{sc=Hiragana}]${MORE}`,
    `\\p{RGI_Emoji}${MORE}`,
  ].join('|'),
  'gv',
);
/** A word has at most 255 units of UTF-16. A pair of units stays together. */
const LONGEST = /^.{1,255}(?<![\ud800-\udbff])/s;

/**
 * The words of a text, as the stores' standard analyzer (Lucene 9) splits it: by Unicode's rules (UAX 29, Unicode 12), in lower case,
 * without punctuation. Rare scripts, and Hebrew with quotation marks, may be split differently.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    const [beginning = ''] = LONGEST.exec(word) ?? [];
    // A longer text is cut after 255 units, and the rest is split again.
    const [first = ''] = beginning === word ? [word] : (beginning.match(WORD) ?? []);
    words.push(lowerCase(first), ...(first === word ? [] : wordsOf(word.slice(first.length))));
  }
  return words;
}

/** Lower case for each character by itself, so that there is no final sigma, and one character becomes one character. */
const lowerCase = (word: string): string => [...word].map((one) => [...one.toLowerCase()][0]).join('');

/** Whether the text has these words one after the other; the last one may be the beginning of a word. False without words. */
export function hasPhrase(text: readonly string[], phrase: readonly string[]): boolean {
  const last = phrase.length - 1;
  if (last < 0) return false;
  return text.some((_, at) =>
    phrase.every((word, index) =>
      index === last ? (text[at + index]?.startsWith(word) ?? false) : text[at + index] === word,
    ),
  );
}
