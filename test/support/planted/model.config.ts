import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BUGS } from './bugs.ts';

const PROJECT = join(import.meta.dirname, '..', '..', '..');

/** The bug to plant; `undefined`: the source is not changed. */
const bug = BUGS[process.env['PLANTED_FAULT'] ?? ''];

/**
 * Replaces the text of the bug when its file is loaded. Throws if the text is not in the file exactly once, because the run would prove
 * nothing.
 */
const plant = {
  name: 'planted-bug',
  enforce: 'pre' as const,
  load(id: string) {
    if (!bug || id !== join(PROJECT, 'src', bug.file)) return undefined;
    const parts = readFileSync(id, 'utf8').split(bug.of);
    if (parts.length !== 2) throw new Error(`the planted bug fits ${parts.length - 1} places`);
    return parts.join(bug.instead);
  },
};

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  plugins: [plant],
  test: {
    root: PROJECT,
    include: ['test/model/cache.test.ts'],
    testTimeout: 600_000,
    fsModuleCache: false, // the cache could have the file of an earlier run with another bug
  },
});
