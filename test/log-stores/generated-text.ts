import fc from 'fast-check';

/**
 * Characters of the kinds that the rules of words know, of Unicode 12 at the latest, which the stores know. Not of Hebrew, whose
 * quotation marks have rules of their own that the simulated store leaves out.
 */
const PIECES = [
  'a', 'Z', '1', '9', 'ß', 'ö', 'É', 'e\u0301', 'Å', 'İ', 'Σ', 'ς', 'ΟΔΟΣ', '½', '²', '①', '１', 'Ａ', '٣', 'Ⅷ', 'ⓐ', 'ª', 'ﬁ', 'ǅ', '𝐀', 'ꙮ', 'ع',
  ':', '.', ',', ';', "'", '’', '"', '_', '-', '·', '‿', '\u202f', ' ', '\u00a0', '\u3000', '/', '\n', '\t', '\u0000', '\u001b', '\u001b[33m', '[0m', '\u00ad',
  '*', '}', '{', '#', '@', '&', '+', '$', '%', '~', '^', '|', '\\', '(', ')', '<', '>', '=', '!', '?', '€',
  '订', '单', '〇', '々', 'あ', 'の', 'カ', 'ア', 'ー', '한', '국', 'ไทย', '😀', '🇩🇪', 'WARN', 'x'.repeat(254),
]; // biome-ignore format: a list of short values

/** Texts of such pieces. */
export const generatedText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8, size: 'max' })
  .map((pieces) => pieces.join(''));
