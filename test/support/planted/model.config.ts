import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BUGS } from './bugs.ts';

const PROJECT = join(import.meta.dirname, '..', '..', '..');

/** Without one: the source as it is. */
const bug = BUGS[process.env['PLANTED_FAULT'] ?? ''];

/**
 * Replaces the text in the one file when it is loaded. A bug whose text is not in the file, or is there twice, would
 * prove nothing, so it stops the run.
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
    fsModuleCache: false, // it would keep the file of an earlier run, with another bug
  },
});
