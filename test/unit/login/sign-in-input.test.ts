import { describe, expect, test } from 'vitest';
import type { LoginRequest } from '../../../src/cli/login/login-arguments.ts';
import { withPair } from '../../../src/cli/login/session.ts';
import { signInInput } from '../../../src/cli/login/sign-in-input.ts';

const SERVER = 'https://gatehouse.example.com';
const BEFORE = withPair(
  { server: SERVER, clientId: 'gatehouse', username: 'joe' },
  { accessToken: 'a', refreshToken: 'r', lifetimeSeconds: 60 },
  0,
);

interface Setting {
  readonly request?: Partial<LoginRequest>;
  readonly before?: typeof BEFORE;
  /** What is typed; without, there is no terminal. */
  readonly typed?: readonly string[];
  readonly stdin?: string;
  readonly files?: Readonly<Record<string, string>>;
}

async function inputOf({ request = {}, before, typed, stdin = '', files = {} }: Setting) {
  const answers = [...(typed ?? [])];
  const asked: string[] = [];
  const ask = async (question: string, { isShown }: { isShown: boolean }): Promise<string> => {
    asked.push(`${isShown ? '' : 'hidden '}${question}`);
    return answers.shift() ?? '';
  };
  const readFile = (path: string): Buffer => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
    return Buffer.from(text);
  };
  const parts = {
    terminal: { isThere: typed !== undefined, ask },
    readInput: async () => Buffer.from(stdin),
    readFile,
  };
  const input = await signInInput(
    { action: 'login', server: SERVER, clientId: 'gatehouse', ...request },
    before,
    parts,
  );
  return { ...input, asked };
}

describe('who signs in', () => {
  test('is asked, and the password without being shown', async () => {
    expect(await inputOf({ typed: ['ada', 'pw'] })).toEqual({
      username: 'ada',
      password: 'pw',
      asked: [`User at ${SERVER}: `, `hidden Password of ada at ${SERVER}: `],
    });
  });

  test('is the user of the session before, or whoever is named', async () => {
    expect((await inputOf({ before: BEFORE, typed: ['pw'] })).username).toBe('joe');
    expect((await inputOf({ before: BEFORE, request: { username: 'ada' }, typed: ['pw'] })).username).toBe('ada');
  });

  test('needs no terminal with a password file, whose line end does not count', async () => {
    const request = { username: 'ada', passwordFile: '/pw' };
    expect(await inputOf({ request, files: { '/pw': ' pw \r\n' } })).toEqual({
      username: 'ada',
      password: ' pw ',
      asked: [],
    });
    expect((await inputOf({ before: BEFORE, request: { passwordFile: '-' }, stdin: 'pw\n' })).password).toBe('pw');
  });
});

describe('nobody signs in', () => {
  const options = {
    username: "o'hara",
    clientId: 'cli',
    clientSecretFile: '/s',
    certificateAuthorityData: 'QQ==',
    sessionFile: '/a b',
  };

  test.each<readonly [string, Setting, string]>([
    [
      'without a terminal',
      {},
      `nobody is signed in at ${SERVER}, and there is no terminal to ask for the password: run gatehouse login --server ${SERVER}`,
    ],
    [
      'without a terminal after a session',
      { before: BEFORE },
      `the session of joe at ${SERVER} has ended, and there is no terminal to ask for the password: run gatehouse login --server ${SERVER}`,
    ],
    [
      'without a terminal, and is told every option',
      { request: options },
      `run gatehouse login --server ${SERVER} --username 'o'\\''hara' --client-id cli --client-secret-file /s --certificate-authority FILE --session-file '/a b'`,
    ],
    [
      'without a name',
      { request: { passwordFile: '/pw' }, files: { '/pw': 'pw' } },
      `nobody is signed in at ${SERVER}, and the password file is of no use without --username`,
    ],
    ['with an empty name', { typed: [''] }, 'no name was given: nobody was signed in'],
    ['with an empty password', { typed: ['ada', ''] }, 'a password has 1 to 72 bytes, this one has 0'],
    [
      'without the password file',
      { request: { username: 'ada', passwordFile: '/pw' } },
      'cannot read the password file /pw: ENOENT: no such file or directory',
    ],
    [
      'with two lines',
      { request: { username: 'ada', passwordFile: '-' }, stdin: 'a\nb\n' },
      'a password is one line, this one has more',
    ],
  ])('%s', async (_case, setting, sentence) => {
    await expect(inputOf(setting)).rejects.toThrow(sentence);
  });
});
