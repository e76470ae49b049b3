import type { KubernetesObject } from '../../src/kubernetes/object.ts';

/** One write to a node. Versions count from 0 here; on the wire they are far from it. */
export interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** As the watch event carries it: a deleted node in its last state, at the version of its deletion. */
  readonly object: KubernetesObject;
}

export type State = ReadonlyMap<string, KubernetesObject>;

/** What etcd keeps: every version of the nodes since the last compaction, and that it may be set back to an older one. */
export class History {
  readonly #base: bigint;
  /** Both by version; a version without a change is a write to another kind. */
  #states: State[] = [new Map()];
  #changes: (Change | undefined)[] = [undefined];
  /** Of all writes ever, whatever was restored: no two objects or states are alike. */
  #writes = 0;
  /** The oldest version that can be read. */
  compacted = 0;
  /** One more at each restore: what was begun in another one cannot go on. */
  timeline = 0;

  /** `base` is the version on the wire that counts as 0 here: decimal text of any length. */
  constructor(base: string) {
    this.#base = BigInt(base);
  }

  get version(): number {
    return this.#states.length - 1;
  }

  textOf(version: number): string {
    return String(this.#base + BigInt(version));
  }

  versionOf(text: string): number {
    return Number(BigInt(text) - this.#base);
  }

  stateAt(version: number): State {
    const state = this.#states[version];
    if (!state) throw new Error(`the model has no version ${version}`);
    return state;
  }

  changesAfter(version: number, upTo: number): Change[] {
    return this.#changes.slice(version + 1, upTo + 1).filter((change) => change !== undefined);
  }

  /** A write to another kind: the version rises, no node changes. */
  passOver(): void {
    this.#states.push(this.stateAt(this.version));
    this.#changes.push(undefined);
  }

  create(name: string): void {
    if (!this.#now(name)) this.#put(name, `uid-${this.#writes}`, 'ADDED');
  }

  update(name: string): void {
    const uid = this.#now(name)?.metadata.uid;
    if (uid !== undefined) this.#put(name, uid, 'MODIFIED');
  }

  delete(name: string): void {
    const object = this.#now(name);
    if (!object) return;
    const next = new Map(this.stateAt(this.version));
    next.delete(name);
    const resourceVersion = this.textOf(this.version + 1);
    this.#write({ type: 'DELETED', object: { ...object, metadata: { ...object.metadata, resourceVersion } } }, next);
  }

  compact(): void {
    this.compacted = this.version;
  }

  /** From a backup: later writes count from there again. */
  restore(version: number): void {
    this.#states = this.#states.slice(0, version + 1);
    this.#changes = this.#changes.slice(0, version + 1);
    this.compacted = Math.min(this.compacted, version);
    this.timeline++;
  }

  #now(name: string): KubernetesObject | undefined {
    return this.stateAt(this.version).get(name);
  }

  #put(name: string, uid: string, type: 'ADDED' | 'MODIFIED'): void {
    const resourceVersion = this.textOf(this.version + 1);
    const metadata = { name, uid, resourceVersion, labels: { write: String(this.#writes) } };
    const object = { kind: 'Node', apiVersion: 'v1', metadata };
    this.#write({ type, object }, new Map(this.stateAt(this.version)).set(name, object));
  }

  #write({ type, object }: Omit<Change, 'version'>, next: State): void {
    this.#writes++;
    this.#states.push(next);
    this.#changes.push({ version: this.version, type, object });
  }
}
