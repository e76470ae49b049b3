import { describe, expect, test } from 'vitest';
import { nameOf, parseSession, withPair } from '../../../src/cli/login/session.ts';
import { homeFolderOf, sessionPlace } from '../../../src/cli/login/session-place.ts';

const WHO = { server: 'https://gatehouse.example.com', clientId: 'gatehouse', username: 'ada@example.com' };
const session = (lifetimeSeconds: number, accessToken = 'a') =>
  withPair(WHO, { accessToken, refreshToken: 'r', lifetimeSeconds }, 1_000_000);

describe('a session', () => {
  test.each([
    [7200, 7170],
    [60, 30],
    [20, 10], // at the end of the session
  ])('whose access token lives for %i s hands it out for %i s', (lifetimeSeconds, seconds) => {
    expect(session(lifetimeSeconds).goodUntil).toBe(1_000_000 + seconds * 1000);
  });

  test('is read as it was written', () => {
    expect(parseSession(JSON.stringify(session(60)))).toEqual(session(60));
  });

  test.each(['', '{', 'null', '[]', '{}', 'apiVersion: v1', JSON.stringify({ ...session(60), goodUntil: 'soon' })])(
    'is not read from %j',
    (text) => {
      expect(parseSession(text)).toBeUndefined();
    },
  );

  test('is called by the name in its access token', () => {
    const claims = Buffer.from('{"username":"ada"}').toString('base64url');
    expect(nameOf(session(60, `x.${claims}.z`))).toBe('ada');
  });

  test.each(['a', 'x.y.z', `x.${Buffer.from('{"username":"a\\u001b[2J"}').toString('base64url')}.z`])(
    'is called by what was typed when the access token is %j',
    (accessToken) => {
      expect(nameOf(session(60, accessToken))).toBe('ada@example.com');
    },
  );
});

describe('the place of a session', () => {
  const surroundings = { environment: {}, homeFolder: '/home/ada' };
  const placed = (more: object = {}, environment = {}) =>
    sessionPlace({ ...WHO, ...more }, { ...surroundings, environment });

  test('is in ~/.local/state/gatehouse, or where XDG_STATE_HOME says', () => {
    expect(placed().folder).toBe('/home/ada/.local/state/gatehouse');
    expect(placed({}, { XDG_STATE_HOME: '/state' }).folder).toBe('/state/gatehouse');
    expect(placed({}, { XDG_STATE_HOME: 'relative' }).folder).toBe('/home/ada/.local/state/gatehouse');
    expect(placed().file).toMatch(
      /^\/home\/ada\/\.local\/state\/gatehouse\/gatehouse\.example\.com-[0-9a-f]{16}\.json$/,
    );
  });

  test.each([undefined, '', 'relative/home'])('is nowhere without a home folder: %j', (homeFolder) => {
    const place =
      (more: object, environment = {}) =>
      () =>
        sessionPlace({ ...WHO, ...more }, { environment, homeFolder });
    expect(place({})).toThrow(
      'there is no home folder to keep the session in: set HOME or XDG_STATE_HOME, or name a file with --session-file',
    );
    expect(place({}, { XDG_STATE_HOME: '/state' })().folder).toBe('/state/gatehouse');
    expect(place({ sessionFile: '/s/file.json' })().file).toBe('/s/file.json');
  });

  test('is below HOME, else below the home folder of the account, if the system knows it', () => {
    const unknown = (): never => {
      throw new Error('ENOENT: no such file or directory, uv_os_homedir');
    };
    const account = { homedir: '/home/ada' };
    expect(homeFolderOf({ homedir: () => '/h', userInfo: unknown })).toBe('/h');
    expect(homeFolderOf({ homedir: () => '', userInfo: () => account })).toBe('/home/ada');
    expect(homeFolderOf({ homedir: () => '', userInfo: unknown })).toBe(undefined);
    expect(homeFolderOf({ homedir: unknown, userInfo: unknown })).toBe(undefined);
  });

  test('is another one for each server, user and client', () => {
    const others = [{}, { username: 'joe' }, { clientId: 'cli' }, { server: 'https://gatehouse.example.com:8443' }];
    const files = others.map((other) => placed(other).file);
    const { username, ...nobody } = WHO;
    files.push(sessionPlace(nobody, surroundings).file);
    expect(new Set(files).size).toBe(5);
  });

  test('is the file that is named', () => {
    const named = { file: '/run/ci/session.json', folder: '/run/ci', isOurFolder: false };
    expect(placed({ sessionFile: '/run/ci/session.json' })).toEqual(named);
  });
});
