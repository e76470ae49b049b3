import type { Random } from '../../runtime/random.ts';

/** The letters of a code: no vowels, so no words; no digits, which look like letters (RFC 8628 6.1). 20^8 codes, 34 bits. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/** Letters of ASCII alone: without `u` no other letter, such as `ſ`, counts as one of them in another case. */
const CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`, 'i');

/** The largest multiple of the number of letters in a byte; a byte from there on would make the first letters likelier. */
const FAIR_BYTES = 256 - (256 % LETTERS.length);

/** A random code, without the dash. Each is as likely as any other. */
export function newUserCode(random: Random): string {
  let code = '';
  while (code.length < LENGTH)
    for (const byte of random.bytes(LENGTH))
      if (byte < FAIR_BYTES && code.length < LENGTH) code += LETTERS[byte % LETTERS.length];
  return code;
}

/** A typed code without blanks and dashes, in upper case; `undefined` if it cannot be a code (D-02). */
export function readUserCode(typed: string): string | undefined {
  const code = typed.replaceAll(/[\s\p{Pd}]/gu, '');
  return CODE.test(code) ? code.toUpperCase() : undefined;
}

/** The code as people see it: two groups of four letters. */
export const shownUserCode = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
