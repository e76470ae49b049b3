import type { TestProject } from 'vitest/node';

/** Each project loads this module for itself. */
const printed = globalThis as { seedThatWasPrinted?: string | undefined };

/** The projects of a run have one seed, which is printed once. */
export function setup({ config }: TestProject): void {
  const seed = config.env['TEST_SEED'];
  if (printed.seedThatWasPrinted === seed) return;
  printed.seedThatWasPrinted = seed;
  process.stdout.write(`generated tests: TEST_SEED=${seed}\n`);
}
