import type { LastProof } from '../../data-age.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import type { SecretRecords, StoredSecret } from '../../secret-store.ts';
import { compareResourceVersions, type KubernetesObject, keyOf } from '../object.ts';
import type { Freshness, ReflectedStore, Replacement, StoredEntry } from '../reflector/store.ts';
import { type SecretRequests, toStoredSecret } from './secret-requests.ts';

export interface SecretRecordsParts {
  readonly requests: Pick<SecretRequests, 'get' | 'create' | 'replace' | 'remove'>;
  readonly namespace: string;
  /** The labels by which these Secrets are selected. Each new one gets them. */
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

  get proof(): LastProof {
    return this.#parts.freshness.proof;
  }

  hasSynced = (): boolean => this.#parts.freshness.hasSynced();

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
    // The API server sent the answer before the removal, but it arrived after the watch had shown the removal.
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

export interface SecretEntry extends StoredEntry {
  /** The object without its `managedFields`. A write sends it back with other data. */
  readonly object: KubernetesObject;
  readonly secret: StoredSecret;
}

/** Decodes the data on each read. Decoded data of 10,000 Secrets, kept as well, would take 6 MB. */
class MirroredSecret implements SecretEntry {
  readonly key: string;
  readonly object: KubernetesObject;

  constructor(object: KubernetesObject) {
    this.key = keyOf(object);
    this.object = object;
  }

  get uid(): string {
    return this.object.metadata.uid;
  }

  get resourceVersion(): string {
    return this.object.metadata.resourceVersion;
  }

  get secret(): StoredSecret {
    return toStoredSecret(this.object);
  }
}

/** A state that we know from a write or a read of our own before the watch shows it. */
type Ahead =
  | { readonly entry: SecretEntry; readonly writtenAtMs: number | undefined }
  /** The object of this uid is gone. */
  | { readonly goneUid: string };

export interface SecretMirrorParts {
  readonly clock: Clock;
  /** Records the seconds from the answer to a write until our watch shows it, which is about when other replicas see it. */
  observeLag(seconds: number): void;
}

/**
 * Secrets in memory. The reflector writes what the cluster says. Our own writes take precedence until the watch has
 * caught up, so that no reader here sees the earlier state again.
 */
export class SecretMirror implements ReflectedStore<SecretEntry> {
  readonly #parts: SecretMirrorParts;
  readonly #listeners: ((key: string) => void)[] = [];
  readonly #ahead = new Map<string, Ahead>();
  #seen = new Map<string, SecretEntry>();

  constructor(parts: SecretMirrorParts) {
    this.#parts = parts;
  }

  /** Calls `changed` with the key of each Secret whose newest known state has changed. */
  onChange(changed: (key: string) => void): void {
    this.#listeners.push(changed);
  }

  /** The newest known state: from our own write if the watch has not shown it yet, else from the watch. */
  current(key: string): SecretEntry | undefined {
    const ahead = this.#ahead.get(key);
    const seen = this.#seen.get(key);
    if (!ahead) return seen;
    if ('goneUid' in ahead) return seen?.uid === ahead.goneUid ? undefined : seen;
    return ahead.entry;
  }

  *currentEntries(): Iterable<SecretEntry> {
    for (const key of new Set([...this.#seen.keys(), ...this.#ahead.keys()])) {
      const entry = this.current(key);
      if (entry) yield entry;
    }
  }

  /** Takes over a state that we wrote ourselves, or read by a request of our own. */
  learned(object: KubernetesObject, how: 'written' | 'read'): void {
    const entry = this.toEntry(object);
    const known = this.current(entry.key);
    if (known && compareResourceVersions(entry.resourceVersion, known.resourceVersion) <= 0) return;
    const writtenAtMs = how === 'written' ? this.#parts.clock.monotonic() : undefined;
    this.#ahead.set(entry.key, { entry, writtenAtMs });
    this.#notify(entry.key);
  }

  /** Records that we removed this object, or found it gone. An object of another uid that came meanwhile stays. */
  learnedGone({ key, uid }: Pick<SecretEntry, 'key' | 'uid'>): void {
    if (this.current(key)?.uid !== uid) return;
    if (this.#seen.get(key)?.uid === uid) this.#ahead.set(key, { goneUid: uid });
    else this.#ahead.delete(key);
    this.#notify(key);
  }

  get size(): number {
    return this.#seen.size;
  }

  /** What the watch has shown. For the reflector; readers use `current`. */
  get = (key: string): SecretEntry | undefined => this.#seen.get(key);
  entries = (): readonly SecretEntry[] => [...this.#seen.values()];

  toEntry(object: KubernetesObject): SecretEntry {
    // `managedFields` are the longest part of a small object, and an update without them leaves them as they are.
    const { managedFields: _, ...metadata } = object.metadata;
    return new MirroredSecret({ ...object, metadata });
  }

  put(entry: SecretEntry): void {
    const before = this.current(entry.key);
    this.#seen.set(entry.key, entry);
    this.#caughtUp(entry.key, entry.resourceVersion);
    this.#notifyIfChanged(entry.key, before);
  }

  remove(key: string): void {
    const before = this.current(key);
    const ahead = this.#ahead.get(key);
    const removed = this.#seen.get(key);
    this.#seen.delete(key);
    // If we have created the Secret again after this removal, the watch has yet to show that.
    const isSuccessor = ahead && 'entry' in ahead && ahead.entry.uid !== removed?.uid;
    if (!isSuccessor) this.#ahead.delete(key);
    this.#notifyIfChanged(key, before);
  }

  /** Replaces everything in the last step, because our own writes may come until then. There are some thousands at most. */
  *prepare(entries: readonly SecretEntry[], replacement: Replacement): Steps<() => void> {
    return () => this.#replace(entries, replacement);
  }

  #replace(entries: readonly SecretEntry[], { sameHistory, resourceVersion }: Replacement): void {
    const before = new Map([...this.currentEntries()].map((entry) => [entry.key, entry]));
    this.#seen = new Map(entries.map((entry) => [entry.key, entry]));
    if (sameHistory) for (const key of [...this.#ahead.keys()]) this.#caughtUp(key, resourceVersion);
    else this.#ahead.clear();
    for (const key of new Set([...before.keys(), ...this.#seen.keys()])) this.#notifyIfChanged(key, before.get(key));
  }

  /** Called when the watch has shown all changes of `key` up to this version. Forgets our own state if it is not newer. */
  #caughtUp(key: string, version: string): void {
    const ahead = this.#ahead.get(key);
    if (!ahead) return;
    if ('goneUid' in ahead) {
      if (this.#seen.get(key)?.uid !== ahead.goneUid) this.#ahead.delete(key);
      return;
    }
    if (compareResourceVersions(version, ahead.entry.resourceVersion) < 0) return;
    this.#ahead.delete(key);
    if (ahead.writtenAtMs !== undefined)
      this.#parts.observeLag((this.#parts.clock.monotonic() - ahead.writtenAtMs) / 1000);
  }

  #notifyIfChanged(key: string, before: SecretEntry | undefined): void {
    const now = this.current(key);
    if (now?.uid !== before?.uid || now?.resourceVersion !== before?.resourceVersion) this.#notify(key);
  }

  #notify(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }
}
