import { describe, expect, test } from 'vitest';
import { readNewPassword } from '../../../src/users/new-password.ts';

describe('a password from standard input', () => {
  test.each([
    ['secret', 'secret'],
    ['\uFEFFsecret\r\n', 'secret'],
    ['\uFEFF\uFEFFsecret', '\uFEFFsecret'],
    ['sec\uFEFFret', 'sec\uFEFFret'],
    ['secret\n', 'secret'],
    ['secret\r\n', 'secret'],
    [' Grüße 🔑 \n', ' Grüße 🔑 '],
    [`${'ä'.repeat(36)}\n`, 'ä'.repeat(36)],
  ])('%j is %j', (text, password) => {
    expect(readNewPassword(Buffer.from(text))).toEqual({ password });
  });

  test.each([
    ['', 'a password has 1 to 72 bytes, this one has 0'],
    ['\n', 'a password has 1 to 72 bytes, this one has 0'],
    ['a'.repeat(73), 'a password has 1 to 72 bytes, this one has 73'],
    ['ä'.repeat(37), 'a password has 1 to 72 bytes, this one has 74'],
    ['one\ntwo\n', 'a password is one line, this one has more'],
    ['one\n\n', 'a password is one line, this one has more'],
    ['one\rtwo', 'a password is one line, this one has more'],
    ['one\0two', 'a password holds no NUL, this one does: bcrypt would stop reading there'],
  ])('%j is refused', (text, fault) => {
    expect(readNewPassword(Buffer.from(text))).toEqual({ fault });
  });

  test('is refused when its bytes are not UTF-8', () => {
    expect(readNewPassword(Buffer.from([0x61, 0xff]))).toEqual({ fault: 'a password is UTF-8 text, this one is not' });
  });
});
