const LONGEST_ECHO = 64;

/** The first 64 characters of a caller's text: no message repeats more of it. */
export function cut(text: string): string {
  if (text.length <= LONGEST_ECHO) return text;
  // A character outside the basic plane takes two units, so twice the units hold enough characters.
  return Array.from(text.slice(0, 2 * LONGEST_ECHO))
    .slice(0, LONGEST_ECHO)
    .join('');
}

/** A caller's text as an error message repeats it. */
export const quoted = (text: string): string => `"${cut(text)}"`;
