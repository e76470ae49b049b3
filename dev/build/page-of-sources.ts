import { resolve } from 'node:path';

/**
 * What `npm start` does first, so that the page is that of the sources. Without the packages of development it makes none, and the program
 * says what is missing if it is to serve the page.
 */
try {
  const { makePageOfSources } = await import('./page.ts');
  await makePageOfSources(resolve(import.meta.dirname, '..', '..'));
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
}
