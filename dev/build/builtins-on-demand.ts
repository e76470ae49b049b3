import { isBuiltin } from 'node:module';
import { isAbsolute } from 'node:path';
import type { Plugin } from 'rolldown';

/** Begins the ids of modules that no file holds, by a convention of bundlers. */
const VIRTUAL = '\0node:';

/**
 * Loads a module of Node by a call and not by `import`, for a program that people wait for. An `import` loads it at the start, although
 * the part that needs it may not run; in a program of one file that is so for every part. It also reads each export, which
 * for `node:fs` and `node:crypto` loads more modules.
 */
export const builtinsOnDemand: Plugin = {
  name: 'builtins-on-demand',
  resolveId: (id, importer) =>
    // The bundler's own helpers have no path. Their imports vanish when nothing needs them.
    isBuiltin(id) && importer !== undefined && isAbsolute(importer) ? VIRTUAL + id.replace(/^node:/, '') : undefined,
  load: (id) =>
    id.startsWith(VIRTUAL) ? `module.exports = process.getBuiltinModule(${JSON.stringify(id.slice(1))});` : undefined,
};
