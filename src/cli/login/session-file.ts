import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import type { Random } from '../../runtime/random.ts';
import type { LoginSessionOptions } from './login-arguments.ts';
import { LoginError, systemReason } from './login-error.ts';
import { parseSession, type SavedSession } from './session.ts';
import type { SessionPlace } from './session-place.ts';

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;
const LARGEST_BYTES = 65_536;
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

  /**
   * Reads the session; `undefined` when there is no file. Throws a `LoginError` when others could have read or made the file, or
   * when it holds another session.
   */
  async read(): Promise<SavedSession | undefined> {
    const handle = await this.#open();
    if (handle === undefined) return undefined;
    try {
      await this.#checkOwner(handle);
      const text = await handle.readFile('utf8');
      if (text === '') return undefined; // mktemp makes an empty file
      const session = parseSession(text);
      if (session === undefined) throw this.#fault('is not a session file of gatehouse: name another one');
      this.#checkWhose(session);
      return session;
    } finally {
      await handle.close();
    }
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
      throw this.#fault(`cannot be written: ${systemReason(error)}`);
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

  async #open(): Promise<FileHandle | undefined> {
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    try {
      return await open(this.#place.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      if (code === 'ELOOP') throw this.#fault('is a symbolic link: remove it, or name another file');
      throw this.#fault(`cannot be read: ${systemReason(error)}`);
    }
  }

  /** Checks the open file and not its name, which may point to another file by now. */
  async #checkOwner(handle: FileHandle): Promise<void> {
    const status = await handle.stat();
    if (!status.isFile() || status.size > LARGEST_BYTES)
      throw this.#fault('is not a session file of gatehouse: name another one');
    const { userId } = this.#owner;
    if (userId === undefined) return;
    if (status.uid !== userId) throw this.#fault('belongs to another user: remove it, or name another file');
    if (status.mode & OTHERS) {
      const mode = (status.mode & 0o777).toString(8).padStart(4, '0');
      throw this.#fault(`has mode ${mode}, so others may know its tokens: remove it and sign in again`);
    }
  }

  /** Throws when the file is that of another session: its tokens must not be sent to this server. */
  #checkWhose({ server, clientId, username }: SavedSession): void {
    const wanted = this.#wanted;
    const isWanted =
      server === wanted.server && clientId === wanted.clientId && username === (wanted.username ?? username);
    if (!isWanted) throw this.#fault(`is the session of ${username} at ${server}: name another file`);
  }

  #fault(what: string): LoginError {
    return new LoginError(`the session file ${this.#place.file} ${what}`);
  }
}
