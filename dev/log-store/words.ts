const SEGMENTS = new Intl.Segmenter('en', { granularity: 'word' });
/** Written without spaces: each character is a word, as for the stores. */
const HAN = /\p{Script=Han}/u;

/** The words of a text as the stores' standard analyzer has them: by Unicode's rules (UAX 29), in lower case, without punctuation. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const { segment, isWordLike } of SEGMENTS.segment(text)) {
    if (!isWordLike) continue;
    if (HAN.test(segment)) words.push(...segment);
    else words.push(segment.toLowerCase());
  }
  return words;
}

/** Whether the words come in this order, one after the other, the last of them as the beginning of a word. No word is in no text. */
export function hasPhrase(text: readonly string[], phrase: readonly string[]): boolean {
  const last = phrase.length - 1;
  if (last < 0) return false;
  return text.some((_, at) =>
    phrase.every((word, index) =>
      index === last ? (text[at + index]?.startsWith(word) ?? false) : text[at + index] === word,
    ),
  );
}
