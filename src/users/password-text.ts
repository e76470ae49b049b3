/** bcrypt reads only 72 bytes, so a longer password would equal its first 72 bytes. */
export const LONGEST_PASSWORD_BYTES = 72;

/** Composing shrinks a text at most to two sevenths of its bytes (U+1FBE U+0308 U+0301), so a text longer than this stays too long. */
const LONGEST_COMPOSED_BYTES = 4 * LONGEST_PASSWORD_BYTES;

/** True for ASCII, which has only one Unicode form, and for a text so long that it is refused in any form. */
const hasOneForm = (password: string): boolean =>
  /^\p{ASCII}*$/u.test(password) || Buffer.byteLength(password) > LONGEST_COMPOSED_BYTES;

/**
 * The text that a new hash is made from: the composed form (NFC), as RFC 8265, section 4.2 demands. macOS may send "ü" as two
 * characters, Windows and Linux as one.
 */
export const composed = (password: string): string => (hasOneForm(password) ? password : password.normalize('NFC'));

/**
 * The texts to compare with a stored hash: the typed text, its composed form and its decomposed form (NFD), without duplicates.
 * Other programs hash what was typed, in either form. The number of texts, at most three, depends on the typed text alone.
 */
export function formsOf(password: string): readonly string[] {
  if (hasOneForm(password)) return [password];
  return [...new Set([password, password.normalize('NFC'), password.normalize('NFD')])];
}
