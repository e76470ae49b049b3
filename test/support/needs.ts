import { execFileSync } from 'node:child_process';
import type { TestContext } from 'vitest';

/** What some tests need and some machines lack. The key is the text of the skip reason. */
const NEEDS = {
  'curl and jq': () => runs('curl') && runs('jq'),
} as const;

/**
 * The first line of a test that needs such a thing: without it the test is counted as skipped, with that reason. In CI that is a failure,
 * since everything is there.
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
