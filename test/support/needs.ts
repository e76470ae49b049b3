import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { TestContext } from 'vitest';

/** The programs that some tests need and some machines lack. The key is in the reason for skipping a test. */
const NEEDS = {
  'curl and jq': () => runs('curl') && runs('jq'),
  mod_auth_openidc: () => existsSync('/usr/lib/apache2/modules/mod_auth_openidc.so'),
} as const;

/**
 * To be called in the first line of a test that needs such a program. If the program is missing, the test is skipped with that reason. In
 * CI that is a failure, because everything is installed there.
 */
export function needs(context: Pick<TestContext, 'skip'>, need: keyof typeof NEEDS): void {
  if (NEEDS[need]()) return;
  const reason = `needs ${need}, which this machine does not have`;
  console.warn(`skipped: ${reason}`); // the console reporters do not print the reason
  context.skip(reason);
}

function runs(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
