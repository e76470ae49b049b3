/** Visible ASCII and blanks: almost every text. */
const PLAIN = /^[ -~]*$/;

/**
 * Characters that have an effect where a text is shown: control characters, C1 ones included (a terminal obeys them),
 * line and paragraph separators, and marks that change the direction or are invisible.
 */
const UNRULY = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * The text with every such character written as a JavaScript escape, so that it stays on its line and has no effect.
 */
export const shownText = (text: string): string => (PLAIN.test(text) ? text : text.replace(UNRULY, escapes));

const escapes = (character: string): string =>
  character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
