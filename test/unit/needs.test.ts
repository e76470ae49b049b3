import { chmodSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { needs } from '../support/needs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

afterEach(() => void vi.unstubAllEnvs());

/** The reasons with which a test is left out that needs curl and jq, where these programs are. */
function reasonsWith(...programs: readonly string[]): unknown[] {
  const { folder, program } = placeForPrograms();
  for (const name of programs) program(name);
  vi.stubEnv('PATH', folder);
  const skip = vi.fn();
  needs({ skip } as never, 'curl and jq');
  return skip.mock.calls;
}

describe('a test that needs programs', () => {
  test('runs where they are', () => {
    expect(reasonsWith('curl', 'jq')).toEqual([]);
  });

  test.each([[[]], [['curl']], [['jq']]])('is skipped with a reason where there is only %j', (programs) => {
    const printed = vi.spyOn(console, 'warn').mockReturnValue();
    const reason = 'needs curl and jq, which this machine does not have';
    expect(reasonsWith(...programs)).toEqual([[reason]]);
    expect(printed).toHaveBeenCalledWith(`skipped: ${reason}`);
  });
});

function placeForPrograms() {
  const { folder, write } = temporaryFolder();
  return { folder, program: (name: string) => chmodSync(write(name, '#!/bin/sh\n'), 0o700) };
}
