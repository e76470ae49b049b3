import { composed, LONGEST_PASSWORD_BYTES } from './password-text.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a password from standard input, a file or a terminal: one line. Removes the line end, and the byte order mark that
 * some editors write and nobody types at a sign-in. The fault is a sentence for people and never quotes the input.
 */
export function readNewPassword(input: Uint8Array): { readonly password: string } | { readonly fault: string } {
  const password = decode(input)
    ?.replace(/^\uFEFF/, '')
    .replace(/\r?\n$/, '');
  if (password === undefined) return { fault: 'a password is UTF-8 text, this one is not' };
  if (/[\r\n]/.test(password)) return { fault: 'a password is one line, this one has more' };
  if (password.includes('\0'))
    return { fault: 'a password holds no NUL, this one does: bcrypt would stop reading there' };
  const bytes = Buffer.byteLength(composed(password));
  if (bytes >= 1 && bytes <= LONGEST_PASSWORD_BYTES) return { password };
  return { fault: `a password has 1 to ${LONGEST_PASSWORD_BYTES} bytes, this one has ${bytes}` };
}

function decode(input: Uint8Array): string | undefined {
  try {
    return utf8.decode(input);
  } catch {
    return undefined;
  }
}
