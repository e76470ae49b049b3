import type { SecretRecords, StoredSecret } from '../../secret-store.ts';
import type { Freshness } from '../reflector/store.ts';
import type { SecretEntry, SecretMirror } from './secret-mirror.ts';
import type { SecretRequests } from './secret-requests.ts';

export interface SecretRecordsParts {
  readonly requests: Pick<SecretRequests, 'get' | 'create' | 'replace' | 'remove'>;
  readonly namespace: string;
  /** The labels that every one of them carries and is selected by. */
  readonly labels: Readonly<Record<string, string>>;
  readonly mirror: SecretMirror;
  /** The freshness of the mirror. */
  readonly freshness: Freshness;
}

type Data = Readonly<Record<string, Buffer>>;

/**
 * The Secrets of one namespace with our labels, mirrored. Needs the rights to list, watch, get, create, update and
 * delete.
 */
export class ClusterSecretRecords implements SecretRecords {
  readonly #parts: SecretRecordsParts;

  constructor(parts: SecretRecordsParts) {
    this.#parts = parts;
  }

  hasSynced = (): boolean => this.#parts.freshness.hasSynced();
  stalenessMs = (): number => this.#parts.freshness.stalenessMs();

  onChange(changed: (name: string) => void): void {
    const prefix = this.#keyOf('');
    this.#parts.mirror.onChange((key) => changed(key.slice(prefix.length)));
  }

  get = (name: string): StoredSecret | undefined => this.#entry(name)?.secret;

  *names(): Iterable<string> {
    for (const { object } of this.#parts.mirror.currentEntries()) yield object.metadata.name;
  }

  async refresh(name: string): Promise<void> {
    const before = this.#entry(name);
    const object = await this.#parts.requests.get(name);
    // The answer was sent before the object was removed, but arrived after the watch had shown the removal.
    const isPast = before !== undefined && !this.#entry(name) && object?.metadata.uid === before.uid;
    if (isPast) return;
    if (object) this.#parts.mirror.learned(object, 'read');
    else if (before) this.#parts.mirror.learnedGone(before);
  }

  async create(name: string, data: Data): Promise<'created' | 'exists'> {
    const made = await this.#parts.requests.create(name, data, this.#parts.labels);
    if (made === 'exists') return 'exists';
    this.#parts.mirror.learned(made, 'written');
    return 'created';
  }

  /** One request: the mirrored object is sent back with new data, so labels and annotations of others stay. */
  async update(name: string, data: Data, version: string): Promise<'updated' | 'conflict'> {
    const entry = this.#entry(name);
    if (entry?.resourceVersion !== version) return 'conflict';
    const updated = await this.#parts.requests.replace(entry.object, data);
    if (updated === 'conflict') return 'conflict';
    this.#parts.mirror.learned(updated, 'written');
    return 'updated';
  }

  async remove(name: string, version: string): Promise<'removed' | 'conflict'> {
    const entry = this.#entry(name);
    if (entry?.resourceVersion !== version) return 'conflict';
    const outcome = await this.#parts.requests.remove(entry.object);
    if (outcome === 'removed') this.#parts.mirror.learnedGone(entry);
    return outcome;
  }

  #keyOf = (name: string): string => `${this.#parts.namespace}/${name}`;
  #entry = (name: string): SecretEntry | undefined => this.#parts.mirror.current(this.#keyOf(name));
}
