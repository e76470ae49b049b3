import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';

/**
 * The path of the running Node.js. Without /proc, `process.execPath` is just `node`, and a child process without `PATH` would run the
 * system's Node.js.
 */
export function ownProgram(execPath: string, path = ''): string {
  if (isAbsolute(execPath)) return execPath;
  const places = path.split(delimiter).map((folder) => resolve(folder, execPath));
  return places.find(isExecutable) ?? execPath;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
