import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * The program that a command names: the command itself if it is a path, else the first of this name in the folders of `path`.
 * Only absolute folders count, since a relative one depends on where we were started; Go does the same. `undefined` when
 * there is none.
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
