import { setTimeout as sleep } from 'node:timers/promises';
import { ObjectRequests } from '../support/control-plane/object-requests.ts';
import type { ControlPlane } from '../support/control-plane.ts';

/** Between two changes. */
const PAUSE_MS = 50;
/** How many objects are there at a time, besides the one that stays. */
const PRESENT = 5;
const STAYS = 'stays';

interface WrittenObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** What is written: the path of the collection, and one object of it. */
export interface WrittenKind {
  readonly collection: string;
  make(name: string): object;
}

export const WRITTEN_NODES: WrittenKind = {
  collection: '/api/v1/nodes',
  make: (name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } }),
};

/** In the namespace default. No scheduler runs, so a deleted pod is gone at once. */
export const WRITTEN_PODS: WrittenKind = {
  collection: '/api/v1/namespaces/default/pods',
  make: (name) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'example.test/image' }] },
  }),
};

/** The name, behind the namespace if there is one. */
const keyOf = ({ metadata: { name, namespace } }: WrittenObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** The key, and the label that counts the changes. */
export const stateOf = (object: WrittenObject): string => `${keyOf(object)} ${object.metadata.labels?.['step'] ?? ''}`;

/** Creates, changes and deletes objects at the API server itself, one after the other, and keeps what it did. */
export class WrittenObjects {
  /** `add KEY VERSION`, `update KEY VERSION`, `delete KEY`, in the order of the versions: nobody else writes. */
  readonly changes: string[] = [];
  /** What each of the changes made of the object: `KEY STEP` with its label `step`, `KEY gone`. A new object has no step. */
  readonly states: string[] = [];
  readonly #requests: ObjectRequests;
  readonly #kind: WrittenKind;
  readonly #present: string[] = [];
  #created = 0;

  private constructor(requests: ObjectRequests, kind: WrittenKind) {
    this.#requests = requests;
    this.#kind = kind;
  }

  /** With the first object. */
  static async open(cluster: ControlPlane, kind: WrittenKind): Promise<WrittenObjects> {
    const { url, caFile, adminToken: token } = cluster;
    const objects = new WrittenObjects(await ObjectRequests.open({ url, caFile, token }, kind.collection), kind);
    await objects.#create(STAYS);
    return objects;
  }

  /** Ends with a change of the object that stays: a client that is told of it was told of all before. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const name = `object-${this.#created++}`;
      await this.#create(name);
      this.#present.push(name);
      for (const one of [name, STAYS, name]) await this.#label(one);
      if (this.#present.length > PRESENT) await this.#delete(this.#present.shift() as string);
    }
    await this.#label(STAYS);
  }

  async list(): Promise<readonly WrittenObject[]> {
    return ((await this.#requests.send('GET', '')) as { items: readonly WrittenObject[] }).items;
  }

  close = (): Promise<void> => this.#requests.close();

  async #create(name: string): Promise<void> {
    this.#wrote('add', (await this.#requests.send('POST', '', this.#kind.make(name))) as WrittenObject);
    await sleep(PAUSE_MS);
  }

  /** Counts the changes of all objects in a label, so that each is one. */
  async #label(name: string): Promise<void> {
    const patch = { metadata: { labels: { step: `${this.changes.length}` } } };
    this.#wrote('update', (await this.#requests.send('PATCH', `/${name}`, patch)) as WrittenObject);
    await sleep(PAUSE_MS);
  }

  async #delete(name: string): Promise<void> {
    await this.#requests.send('DELETE', `/${name}`);
    // Its version is that of the deletion, which the answer does not name.
    const key = keyOf(this.#kind.make(name) as WrittenObject);
    this.changes.push(`delete ${key}`);
    this.states.push(`${key} gone`);
    await sleep(PAUSE_MS);
  }

  #wrote(what: 'add' | 'update', object: WrittenObject): void {
    this.changes.push(`${what} ${keyOf(object)} ${object.metadata.resourceVersion}`);
    this.states.push(stateOf(object));
  }
}
