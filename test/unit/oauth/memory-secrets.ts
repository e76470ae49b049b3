import type { LastProof } from '../../../src/data-age.ts';
import type { SecretStore, StoredSecret } from '../../../src/secret-store.ts';
import { ALWAYS_CURRENT } from '../../support/always-current.ts';

type Data = Readonly<Record<string, Buffer>>;
type Watcher = (secret: StoredSecret | undefined) => void;

/** Secrets in memory. `fault` makes every call reject; watchers are told at once. */
export class MemorySecrets implements SecretStore {
  readonly stored = new Map<string, StoredSecret>();
  readonly #watchers = new Map<Watcher, string>();
  #version = 0;
  fault: Error | undefined;
  /** Of all watches: for ever, until a test says when. */
  readonly proof: { at: number } = { ...ALWAYS_CURRENT };
  creates = 0;
  /** So many updates are made, and their authors told that they failed. */
  loseAnswers = 0;
  /** What somebody else does just before the next update. */
  beforeUpdate: (() => Promise<void>) | undefined;

  async read(name: string): Promise<StoredSecret | undefined> {
    this.#check();
    return this.stored.get(name);
  }

  async create(name: string, data: Data): Promise<StoredSecret | 'exists'> {
    this.creates++;
    this.#check();
    return this.stored.has(name) ? 'exists' : this.put(name, data);
  }

  async update(name: string, data: Data, version: string): Promise<StoredSecret | 'conflict'> {
    this.#check();
    const first = this.beforeUpdate;
    this.beforeUpdate = undefined;
    await first?.();
    if (this.stored.get(name)?.version !== version) return 'conflict';
    const made = this.put(name, data);
    if (this.loseAnswers-- > 0) throw new Error('the connection was reset');
    return made;
  }

  watch(name: string, onChange: Watcher, signal: AbortSignal): Promise<void> {
    this.#watchers.set(onChange, name);
    onChange(this.stored.get(name));
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  proofOf = (): LastProof => this.proof;

  /** As anybody with access to the cluster could. */
  put(name: string, data: Data): StoredSecret {
    const secret = { data, version: String(++this.#version) };
    this.stored.set(name, secret);
    this.#tell(name, secret);
    return secret;
  }

  remove(name: string): void {
    this.stored.delete(name);
    this.#tell(name, undefined);
  }

  #tell(name: string, secret: StoredSecret | undefined): void {
    for (const [watcher, watched] of this.#watchers) if (watched === name) watcher(secret);
  }

  #check(): void {
    if (this.fault) throw this.fault;
  }
}
