import { join } from 'node:path';

/**
 * For the environment of a program that tests start again and again: Node.js keeps the compiled code, by content and
 * version.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'compiled'),
};
