import type { KubeObject } from './kube-object.ts';

/** One version of one object. Its JSON text is made at first use and shared by every list and watch. */
export class Entry {
  readonly key: string;
  readonly revision: number;
  readonly object: KubeObject;
  #text: string | undefined;

  constructor(key: string, revision: number, object: KubeObject) {
    this.key = key;
    this.revision = revision;
    this.object = object;
  }

  /** JSON without `kind` and `apiVersion`. */
  get text(): string {
    this.#text ??= JSON.stringify(this.object);
    return this.#text;
  }

  /** The history keeps superseded entries. Their text can be made again, so it need not stay in memory. */
  forgetText(): void {
    this.#text = undefined;
  }

  /** The same content under a later version: what a DELETED event carries. */
  at(revision: number): Entry {
    const metadata = { ...this.object.metadata, resourceVersion: String(revision) };
    return new Entry(this.key, revision, { ...this.object, metadata });
  }
}

/** One committed write. `entry` is the new state, for a deletion the last one under the deletion's version. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  readonly entry: Entry;
  readonly previous: Entry | undefined;
}
