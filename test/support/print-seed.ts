import type { TestProject } from 'vitest/node';

/** A global, because each project loads this module for itself. */
const printed = globalThis as { seedThatWasPrinted?: string | undefined };

/** Prints the seed once for all projects of a run, which have the same seed. */
export function setup({ config }: TestProject): void {
  const seed = config.env['TEST_SEED'];
  if (printed.seedThatWasPrinted === seed) return;
  printed.seedThatWasPrinted = seed;
  process.stdout.write(`generated tests: TEST_SEED=${seed}\n`);
}
