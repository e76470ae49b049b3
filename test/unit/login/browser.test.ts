import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createBrowser } from '../../../src/cli/login/browser/desktop-browser.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ADDRESS = 'https://gatehouse.example.com/oauth/authorize?a=1&b=$(id)';

describe('the browser of the machine', () => {
  test.each<readonly [NodeJS.Platform, Readonly<Record<string, string>>, boolean]>([
    ['linux', {}, false],
    ['linux', { DISPLAY: '' }, false],
    ['linux', { DISPLAY: ':0' }, true],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, true],
    ['darwin', {}, true],
    ['win32', { DISPLAY: ':0' }, false],
  ])('D-07 on %s with %j is there: %s', (platform, environment, isThere) => {
    expect(createBrowser({ platform, environment }).isThere).toBe(isThere);
  });

  test.each([
    ['linux', 'xdg-open'],
    ['darwin', 'open'],
  ] as const)('D-07 on %s is opened by %s with the address alone, which no shell reads', async (platform, opener) => {
    const { folder, write } = temporaryFolder();
    chmodSync(
      write(opener, `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/new'; /bin/mv '${folder}/new' '${folder}/given'\n`),
      0o700,
    );
    const failures: string[] = [];
    createBrowser({ platform, environment: { PATH: folder } }).open(ADDRESS, (reason) => failures.push(reason));
    await expect.poll(() => existsSync(join(folder, 'given'))).toBe(true);
    const given = readFileSync(join(folder, 'given'), 'utf8');
    expect([given, failures]).toEqual([`${ADDRESS}\n`, []]);
  });

  test.each([
    ['is not there', undefined, 'xdg-open cannot be run'],
    ['fails', '#!/bin/sh\nexit 3\n', 'xdg-open has failed'],
  ])('D-07 says why it was not opened when the opener %s', async (_, script, reason) => {
    const { folder, write } = temporaryFolder();
    if (script) chmodSync(write('xdg-open', script), 0o700);
    const failures: string[] = [];
    createBrowser({ platform: 'linux', environment: { PATH: folder } }).open(ADDRESS, (one) => failures.push(one));
    await expect.poll(() => failures).toEqual([reason]);
  });

  test('D-07 says so where no opener is known', () => {
    const failures: string[] = [];
    createBrowser({ platform: 'win32', environment: {} }).open(ADDRESS, (one) => failures.push(one));
    expect(failures).toEqual(['no program is known that opens it on win32']);
  });
});
