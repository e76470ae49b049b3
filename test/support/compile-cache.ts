import { join } from 'node:path';

/**
 * Variables for the environment of a program that tests start again and again. They make Node.js cache the compiled code, by content
 * and version.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'compiled'),
};
