import type { KubernetesObject } from '../../src/kubernetes/object.ts';
import { splitKey } from '../../src/resources/entries/entry.ts';

/** One write to an object: a node or a pod. Versions count from 0 here; on the wire they are far from it. */
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
  readonly #isNamespaced: boolean;
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
  constructor(base: string, isNamespaced = false) {
    this.#base = BigInt(base);
    this.#isNamespaced = isNamespaced;
  }

  /** The key of an object by its number. Objects in namespaces have namesakes: one in each of two namespaces. */
  keyOf(number: number): string {
    if (!this.#isNamespaced) return `node-${number}`;
    return `${number % 2 === 0 ? 'one' : 'two'}/pod-${number >>> 1}`;
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

  create(key: string): void {
    if (!this.#now(key)) this.#put(key, `uid-${this.#writes}`, 'ADDED');
  }

  update(key: string): void {
    const uid = this.#now(key)?.metadata.uid;
    if (uid !== undefined) this.#put(key, uid, 'MODIFIED');
  }

  delete(key: string): void {
    const object = this.#now(key);
    if (!object) return;
    const next = new Map(this.stateAt(this.version));
    next.delete(key);
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

  #now(key: string): KubernetesObject | undefined {
    return this.stateAt(this.version).get(key);
  }

  #put(key: string, uid: string, type: 'ADDED' | 'MODIFIED'): void {
    const resourceVersion = this.textOf(this.version + 1);
    const metadata = { ...splitKey(key), uid, resourceVersion, labels: { write: String(this.#writes) } };
    const spec = { nodeName: `node-${this.#writes % 3}` };
    const object = { kind: this.#isNamespaced ? 'Pod' : 'Node', apiVersion: 'v1', metadata, spec };
    this.#write({ type, object }, new Map(this.stateAt(this.version)).set(key, object));
  }

  #write({ type, object }: Omit<Change, 'version'>, next: State): void {
    this.#writes++;
    this.#states.push(next);
    this.#changes.push({ version: this.version, type, object });
  }
}
