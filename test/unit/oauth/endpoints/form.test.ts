import { describe, expect, test } from 'vitest';
import { checkFormHead, decodeFormText, parseForm } from '../../../../src/oauth/endpoints/form.ts';
import { refusalOf } from '../test-server.ts';

const invalid = (description: string) => ({ status: 400, code: 'invalid_request', description });

describe('the head of a form', () => {
  test.each([
    'application/x-www-form-urlencoded',
    'Application/X-WWW-Form-URLencoded; charset=UTF-8',
    'application/x-www-form-urlencoded;charset="utf-8"',
    'application/x-www-form-urlencoded;',
    'application/x-www-form-urlencoded ; charset=utf-8 ; ',
    'application/x-www-form-urlencoded; charset=ISO-8859-1',
    'application/x-www-form-urlencoded;charset=us-ascii',
    'application/x-www-form-urlencoded; charset=utf8',
    'application/x-www-form-urlencoded; charset=windows-1252; q=1',
    'application/x-www-form-urlencoded; boundary=x',
    'application/x-www-form-urlencoded; boundary="a; b"',
    'application/x-www-form-urlencoded\t;charset',
  ])('N-06 takes the content type %s', (type) => {
    expect(() => checkFormHead(type, '')).not.toThrow();
  });

  test.each([
    undefined,
    '',
    'application/json',
    'multipart/form-data',
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/x-www-form-urlencoded-not',
    'application/x-www-form-urlencoded charset=utf-8',
    'application/x-www-form-urlencoded, application/json',
    'text/plain; application/x-www-form-urlencoded',
  ])('N-02 refuses the content type %s', async (type) => {
    expect(await refusalOf(() => checkFormHead(type, ''))).toEqual(
      invalid('the body must be application/x-www-form-urlencoded in UTF-8'),
    );
  });

  test('N-03 refuses any query', async () => {
    expect(await refusalOf(() => checkFormHead('application/x-www-form-urlencoded', 'client_secret=s'))).toEqual(
      invalid('parameters belong in the body, not in the address'),
    );
  });
});

describe('a form', () => {
  const parse = (body: string | Buffer): Map<string, string> => new Map(parseForm(Buffer.from(body)));

  test('decodes escapes, plus signs and raw UTF-8, and skips empty pairs', () => {
    expect(parse('&&a=%C3%BC+b&%63=d%3D&e&f=ö&=g&')).toEqual(
      new Map([
        ['a', 'ü b'],
        ['c', 'd='],
        ['e', ''],
        ['f', 'ö'],
        ['', 'g'],
      ]),
    );
  });

  test('keeps every byte of a value, a byte order mark and a NUL included', () => {
    expect(parse('password=%EF%BB%BFa%00%20').get('password')).toBe('\uFEFFa\0 ');
  });

  test.each(['a=1&a=2', 'a=1&a=', 'foo=1&%66oo=2'])('N-04 refuses the repeated parameter in %s', async (body) => {
    expect(await refusalOf(() => parse(body))).toEqual(invalid('a parameter is given more than once'));
  });

  test.each(['a=%zz', 'a=%', 'a=%f', 'a=%FF', '%C3=a', 'a=%ED%A0%80'])(
    'N-06 refuses the encoding of %s',
    async (body) => {
      expect(await refusalOf(() => parse(body))).toEqual(invalid('a parameter is not form-encoded UTF-8'));
    },
  );

  test('N-06 refuses raw bytes that are not UTF-8', async () => {
    expect((await refusalOf(() => parse(Buffer.from([0x61, 0x3d, 0xff])))).status).toBe(400);
  });

  test('N-07 takes 64 parameters and no more', async () => {
    const parameters = (count: number): string => Array.from({ length: count }, (_, index) => `p${index}=x`).join('&');
    expect(parse(parameters(64)).size).toBe(64);
    expect(await refusalOf(() => parse(parameters(65)))).toEqual(invalid('there are more than 64 parameters'));
  });

  test('may be of any size that was read: the one limit is where it is read', () => {
    expect(parse(`a=${'x'.repeat(100_000)}`).size).toBe(1);
  });

  test('A-22 makes no object of brackets and dots, and leaves Object.prototype alone', () => {
    const form = parse('username%5B%24ne%5D=&username[]=x&__proto__%5Bx%5D=1&constructor.prototype.y=1&__proto__=z');
    expect([...form.keys()]).toEqual([
      'username[$ne]',
      'username[]',
      '__proto__[x]',
      'constructor.prototype.y',
      '__proto__',
    ]);
    expect('x' in {}).toBe(false);
    expect(form.get('toString')).toBe(undefined);
  });

  test.each(['p[]=x', 'p[a]=x', 'p.a=x'])('A-22 refuses %s a thousand times over', async (one) => {
    const many = Array.from({ length: 1_001 }, (_, index) => one.replace('p', `p${index}`)).join('&');
    expect(await refusalOf(() => parse(many))).toEqual(invalid('there are more than 64 parameters'));
  });

  test('decodeFormText tells broken text from an empty one', () => {
    expect([decodeFormText(''), decodeFormText('%'), decodeFormText('+')]).toEqual(['', undefined, ' ']);
  });
});
