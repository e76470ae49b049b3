import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import type { Random } from '../../runtime/random.ts';
import type { LoginSessionOptions } from './login-arguments.ts';
import { LoginError, systemReason } from './login-error.ts';
import { readSession, sessionFault } from './read-session.ts';
import type { SavedSession } from './session.ts';
import type { SessionPlace } from './session-place.ts';

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;
const ROOT = 0;

interface Owner {
  readonly random: Random;
  /** `undefined` on systems without user ids, where file modes mean nothing either. */
  readonly userId: number | undefined;
}

/** The file of one session. Only the user can read it, and no reader sees it half written. */
export class SessionFile {
  readonly #place: SessionPlace;
  readonly #wanted: LoginSessionOptions;
  readonly #owner: Owner;

  constructor(place: SessionPlace, wanted: LoginSessionOptions, owner: Owner) {
    this.#place = place;
    this.#wanted = wanted;
    this.#owner = owner;
  }

  /** Reads it as `readSession` does. */
  async read(): Promise<SavedSession | undefined> {
    return readSession({ file: this.#place.file, options: this.#wanted, userId: this.#owner.userId });
  }

  /** Replaces the file in one step. */
  async write(session: SavedSession): Promise<void> {
    const { file } = this.#place;
    const fresh = `${file}.${this.#owner.random.bytes(6).toString('hex')}`;
    try {
      const handle = await open(fresh, 'wx', 0o600);
      try {
        await handle.writeFile(`${JSON.stringify(session)}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(fresh, file);
    } catch (error) {
      await rm(fresh, { force: true });
      throw sessionFault(file, `cannot be written: ${systemReason(error)}`);
    }
  }

  async remove(): Promise<void> {
    await rm(this.#place.file, { force: true });
  }

  /** Creates the folder. Throws a `LoginError` when others could replace the files in it. */
  async prepareFolder(): Promise<void> {
    const { folder, isOurFolder } = this.#place;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { mode, uid } = await stat(folder);
      if (isOurFolder && uid === this.#owner.userId && mode & OTHERS) await chmod(folder, 0o700);
      else this.#checkFolder(mode, uid);
    } catch (error) {
      if (error instanceof LoginError) throw error;
      throw new LoginError(
        `cannot use the folder ${folder}: ${systemReason(error)}; --session-file names another place`,
      );
    }
  }

  #checkFolder(mode: number, uid: number): void {
    const { userId } = this.#owner;
    if (userId === undefined) return;
    const isOpen = (mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0;
    if (isOpen || (uid !== userId && uid !== ROOT))
      throw new LoginError(`others can change the folder ${this.#place.folder}; --session-file names another place`);
  }
}
