import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withPair } from '../../../src/cli/login/session.ts';
import { SessionFile } from '../../../src/cli/login/session-file.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const WHO = { server: 'https://gatehouse.example.com', clientId: 'gatehouse', username: 'ada' };
const SESSION = withPair(WHO, { accessToken: 'a', refreshToken: 'r', lifetimeSeconds: 7200 }, 0);
const modeOf = (path: string): number => statSync(path).mode & 0o777;

function setUp({ isOurFolder = true, wanted = {} } = {}) {
  const folder = join(temporaryFolder().folder, 'state', 'gatehouse');
  const file = join(folder, 'session.json');
  const place = { file, folder, isOurFolder };
  const { username, ...noName } = WHO;
  const owner = { random: systemRandom, userId: process.getuid?.() };
  return { folder, file, sessions: new SessionFile(place, { ...noName, ...wanted }, owner) };
}

async function written(options?: Parameters<typeof setUp>[0]) {
  const parts = setUp(options);
  await parts.sessions.prepareFolder();
  await parts.sessions.write(SESSION);
  return parts;
}

describe('the session file', () => {
  test('K-03 has mode 0600 in a folder of mode 0700, and nothing is left beside it', async () => {
    const { folder, file, sessions } = await written();
    await sessions.write(SESSION);
    expect([modeOf(file), modeOf(folder)]).toEqual([0o600, 0o700]);
    expect(readdirSync(folder)).toEqual(['session.json']);
    expect(await sessions.read()).toEqual(SESSION);
  });

  test('K-03 closes a folder of ours that was open to others', async () => {
    const { folder, sessions } = await written();
    chmodSync(folder, 0o755);
    await sessions.prepareFolder();
    expect(modeOf(folder)).toBe(0o700);
  });

  test('is none before the first sign-in, after it was removed, and while it is empty', async () => {
    const { file, sessions } = setUp();
    expect(await sessions.read()).toBeUndefined();
    await sessions.prepareFolder();
    await sessions.write(SESSION);
    await sessions.remove();
    await sessions.remove();
    expect(await sessions.read()).toBeUndefined();
    writeFileSync(file, '', { mode: 0o600 });
    expect(await sessions.read()).toBeUndefined();
  });

  test.each([0o640, 0o604, 0o660])('K-04 is refused when others can read it: mode %o', async (mode) => {
    const { file, sessions } = await written();
    chmodSync(file, mode);
    await expect(sessions.read()).rejects.toThrow(
      `the session file ${file} has mode 0${mode.toString(8)}, so others may know its tokens: remove it and sign in again`,
    );
  });

  test('K-04 is refused when it belongs to somebody else', async () => {
    const { file } = await written();
    const place = { file, folder: dirname(file), isOurFolder: false };
    const strangers = new SessionFile(place, WHO, { random: systemRandom, userId: 4711 });
    await expect(strangers.read()).rejects.toThrow('belongs to another user: remove it, or name another file');
  });

  test('K-04 is refused as a symbolic link, even to a good one', async () => {
    const { file } = await written();
    const { folder, file: linked, sessions } = setUp();
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    symlinkSync(file, linked);
    await expect(sessions.read()).rejects.toThrow('is a symbolic link: remove it, or name another file');
  });

  test('is refused when it is something else, and stays as it is', async () => {
    const { file, sessions } = await written();
    writeFileSync(file, 'apiVersion: v1\nkind: Config\n');
    await expect(sessions.read()).rejects.toThrow('is not a session file of gatehouse: name another one');
    const { file: folder, sessions: inFolder } = setUp();
    mkdirSync(folder, { recursive: true });
    await expect(inFolder.read()).rejects.toThrow(/is not a session file of gatehouse|cannot be read/);
  });

  test.each([{ server: 'https://evil.example.com' }, { clientId: 'other' }, { username: 'joe' }])(
    'K-04 is refused when it is the session of another server, client or user: %j',
    async (wanted) => {
      const { sessions } = await written({ wanted });
      await expect(sessions.read()).rejects.toThrow('is the session of ada at https://gatehouse.example.com');
    },
  );

  test('K-04 is not written into a folder that others can change', async () => {
    const { folder, sessions } = setUp({ isOurFolder: false });
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    await expect(sessions.prepareFolder()).rejects.toThrow(
      `others can change the folder ${folder}; --session-file names another place`,
    );
    chmodSync(folder, 0o1777); // as /tmp, where nobody can replace the file of another user
    await expect(sessions.prepareFolder()).resolves.toBeUndefined();
  });

  test('names the folder that cannot be made', async () => {
    const { folder, sessions } = setUp();
    mkdirSync(dirname(dirname(folder)), { recursive: true });
    writeFileSync(dirname(folder), '');
    await expect(sessions.prepareFolder()).rejects.toThrow(`cannot use the folder ${folder}: ENOTDIR: not a directory`);
  });
});
