/** Letters and digits that nobody mistakes for one another on a screen or on paper. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
/** 16 characters of 56 are 93 bits. */
const LENGTH = 16;
/** The largest multiple of the alphabet's length below 256. Larger bytes are thrown away, so that each character is as likely as the others. */
const FAIR = 256 - (256 % ALPHABET.length);

type FillWithRandom = (bytes: Uint8Array<ArrayBuffer>) => void;

const browsers: FillWithRandom = (bytes) => void crypto.getRandomValues(bytes);

/**
 * A password that keeps the rules of the server: it has a lower-case and an upper-case letter and a digit. All such passwords are equally
 * likely, because one without a class is thrown away as a whole.
 */
export function firstPassword(fill: FillWithRandom = browsers): string {
  for (;;) {
    const password = randomText(fill);
    if (/[a-z]/.test(password) && /[A-Z]/.test(password) && /[0-9]/.test(password)) return password;
  }
}

function randomText(fill: FillWithRandom): string {
  let text = '';
  const bytes = new Uint8Array(2 * LENGTH);
  while (text.length < LENGTH) {
    fill(bytes);
    for (const byte of bytes) if (byte < FAIR && text.length < LENGTH) text += ALPHABET[byte % ALPHABET.length];
  }
  return text;
}
