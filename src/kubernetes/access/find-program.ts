import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * Finds the program of a command: the command itself if it is a path, else the first program of this name in the folders of `path`.
 * Relative folders are ignored, because they depend on the current folder; Go does the same. `undefined` if there is no program.
 */
export async function findProgram(command: string, path: string): Promise<string | undefined> {
  if (command.includes('/')) return (await isProgram(command)) ? command : undefined;
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const program = join(folder, command);
    if (await isProgram(program)) return program;
  }
  return undefined;
}

const isProgram = (file: string): Promise<boolean> =>
  Promise.all([access(file, constants.X_OK), stat(file)]).then(
    ([, found]) => found.isFile(),
    () => false,
  );
