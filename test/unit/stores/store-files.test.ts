import { renameSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../src/observability/logger.ts';
import { openStoreFiles } from '../../../src/stores/store-files.ts';
import { atEnd } from '../../support/at-end.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/waiting.ts';

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

/** The files, followed, on a clock that the test moves. */
function follow(options: Parameters<typeof openStoreFiles>[0]) {
  const lines: string[] = [];
  const clock = new FakeClock();
  const logger = createLogger({ level: 'debug', format: 'json' }, { write: (line) => void lines.push(line) });
  const files = openStoreFiles(options, { clock, logger, name: 'the log store' });
  const end = new AbortController();
  const running = files.run(end.signal);
  atEnd(() => {
    end.abort();
    return running;
  });
  /** Until it is so. Reads of files take real time. */
  const until = async (isSo: () => boolean): Promise<void> => {
    await waitFor(isSo, Boolean, { turn: () => clock.advance(100), limitMs: 30_000, saw: () => lines });
  };
  return { files, clock, lines, until };
}

describe('the files of the store', () => {
  test('may be none', () => {
    const { files } = follow({});
    expect([files.authorization(), files.ca()]).toEqual([undefined, undefined]);
  });

  test.each([
    ['secret', 'secret'],
    ['secret\n', 'secret'],
    ['secret\r\n', 'secret'],
    ['secret\n\n', 'secret\n'],
    [' sec ret ', ' sec ret '],
    ['pässwörd:with:colons', 'pässwörd:with:colons'],
  ])('have the password %j without the newline at its end (RFC 7617)', (text, password) => {
    const { write } = temporaryFolder();
    const { files } = follow({ username: 'üser', passwordFile: write('password', text) });
    expect(files.authorization()).toBe(basic(`üser:${password}`));
  });

  test('are read again when they are replaced', async () => {
    const { folder, write } = temporaryFolder();
    const paths = { passwordFile: write('password', 'one'), caFile: write('ca', 'first') };
    const { files, until } = follow({ username: 'u', ...paths });
    expect([files.authorization(), files.ca()]).toEqual([basic('u:one'), 'first']);
    renameSync(write('new-password', 'two'), paths.passwordFile);
    await until(() => files.authorization() === basic('u:two'));
    renameSync(write('new-ca', 'second'), `${folder}/ca`);
    await until(() => files.ca() === 'second');
  });

  test('stay as they were while they cannot be read, and the log says so without them', async () => {
    const { write } = temporaryFolder();
    const passwordFile = write('password', 'canary-one');
    const { files, lines, until } = follow({ username: 'u', passwordFile });
    rmSync(passwordFile);
    await until(() => lines.length > 0);
    expect(files.authorization()).toBe(basic('u:canary-one'));
    expect(lines.join()).not.toContain('canary');
    write('password', 'two');
    await until(() => files.authorization() === basic('u:two'));
  });

  test('that cannot be read at the start are an error', () => {
    expect(() => follow({ username: 'u', passwordFile: '/nowhere/password' })).toThrow('ENOENT');
  });
});
