import type { SecretRecords, StoredSecret } from '../../../src/secret-store.ts';
import { ALWAYS_CURRENT } from '../always-current.ts';

/** Secrets in memory, with compare-and-swap. The test may write like another replica. */
export class MemorySecretRecords implements SecretRecords {
  readonly #stored = new Map<string, StoredSecret>();
  readonly #shown = new Map<string, StoredSecret>();
  readonly #listeners: ((name: string) => void)[] = [];
  #version = 0;
  refreshes = 0;
  isSynced = true;

  get = (name: string): StoredSecret | undefined => this.#shown.get(name);
  names = (): Iterable<string> => this.#shown.keys();
  hasSynced = (): boolean => this.isSynced;
  readonly proof = ALWAYS_CURRENT;
  onChange = (listener: (name: string) => void): void => void this.#listeners.push(listener);

  refresh = async (name: string): Promise<void> => {
    this.refreshes++;
    this.#show(name);
  };

  create = async (name: string, data: StoredSecret['data']): Promise<'created' | 'exists'> => {
    if (this.#stored.has(name)) return 'exists';
    this.put(name, data);
    return 'created';
  };

  update = async (name: string, data: StoredSecret['data'], version: string): Promise<'updated' | 'conflict'> => {
    if (this.#stored.get(name)?.version !== version) return 'conflict';
    this.put(name, data);
    return 'updated';
  };

  remove = async (name: string, version: string): Promise<'removed' | 'conflict'> => {
    if (this.#stored.get(name)?.version !== version) return 'conflict';
    this.#stored.delete(name);
    this.#show(name);
    return 'removed';
  };

  /** Stores a Secret, and shows it at once. */
  put(name: string, data: StoredSecret['data']): void {
    this.putUnseen(name, data);
    this.#show(name);
  }

  /** Stores a Secret like another replica, without showing it yet. */
  putUnseen(name: string, data: StoredSecret['data']): void {
    this.#stored.set(name, { data, version: String(++this.#version) });
  }

  #show(name: string): void {
    const stored = this.#stored.get(name);
    if (stored === this.#shown.get(name)) return;
    if (stored) this.#shown.set(name, stored);
    else this.#shown.delete(name);
    for (const listener of this.#listeners) listener(name);
  }
}
