/** bcrypt reads no further, so a longer password would equal its first 72 bytes. */
export const LONGEST_PASSWORD_BYTES = 72;

/** Composing shrinks a text to two sevenths of its bytes at most (U+1FBE U+0308 U+0301), so a longer one stays too long. */
const LONGEST_COMPOSED_BYTES = 4 * LONGEST_PASSWORD_BYTES;

/** Characters that Unicode writes in one way only. */
const hasOneForm = (password: string): boolean =>
  /^\p{ASCII}*$/u.test(password) || Buffer.byteLength(password) > LONGEST_COMPOSED_BYTES;

/**
 * The text that a new hash is made of: the composed form (NFC), as RFC 8265, section 4.2 has it. macOS may send "ü" as
 * two characters, Windows and Linux as one.
 */
export const composed = (password: string): string => (hasOneForm(password) ? password : password.normalize('NFC'));

/**
 * The texts to compare with a stored hash: what was typed, its composed form and its decomposed one (NFD), each once.
 * Other programs made their hashes of what was typed to them, in either form. How many there are, three at most, depends
 * on the typed text alone.
 */
export function formsOf(password: string): readonly string[] {
  if (hasOneForm(password)) return [password];
  return [...new Set([password, password.normalize('NFC'), password.normalize('NFD')])];
}
