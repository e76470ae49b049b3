import { setTimeout as sleep } from 'node:timers/promises';
import { NodeRequests } from '../support/control-plane/node-requests.ts';
import type { ControlPlane } from '../support/control-plane.ts';

/** Between two changes. */
const PAUSE_MS = 50;
/** How many nodes are there at a time, besides the one that stays. */
const PRESENT = 5;
const STAYS = 'stays';

export interface NodeObject {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** Creates, changes and deletes nodes at the API server itself, one after the other, and keeps what it did. */
export class WrittenNodes {
  /** `add NAME VERSION`, `update NAME VERSION`, `delete NAME`, in the order of the versions: nobody else writes. */
  readonly changes: string[] = [];
  readonly #requests: NodeRequests;
  readonly #present: string[] = [];
  #created = 0;

  private constructor(requests: NodeRequests) {
    this.#requests = requests;
  }

  /** With the first node. */
  static async open(cluster: ControlPlane): Promise<WrittenNodes> {
    const { url, caFile, adminToken: token } = cluster;
    const nodes = new WrittenNodes(await NodeRequests.open({ url, caFile, token }));
    await nodes.#create(STAYS);
    return nodes;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const name = `node-${this.#created++}`;
      await this.#create(name);
      this.#present.push(name);
      for (const one of [name, STAYS, name]) await this.#label(one);
      if (this.#present.length > PRESENT) await this.#delete(this.#present.shift() as string);
    }
  }

  async list(): Promise<readonly NodeObject[]> {
    return ((await this.#requests.send('GET', '')) as { items: readonly NodeObject[] }).items;
  }

  close = (): Promise<void> => this.#requests.close();

  async #create(name: string): Promise<void> {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
    this.#wrote('add', (await this.#requests.send('POST', '', node)) as NodeObject);
    await sleep(PAUSE_MS);
  }

  /** Counts the changes of all nodes in a label, so that each is one. */
  async #label(name: string): Promise<void> {
    const patch = { metadata: { labels: { step: `${this.changes.length}` } } };
    this.#wrote('update', (await this.#requests.send('PATCH', `/${name}`, patch)) as NodeObject);
    await sleep(PAUSE_MS);
  }

  async #delete(name: string): Promise<void> {
    await this.#requests.send('DELETE', `/${name}`);
    this.changes.push(`delete ${name}`); // whose version is that of the deletion, which the answer does not name
    await sleep(PAUSE_MS);
  }

  #wrote(what: 'add' | 'update', { metadata }: NodeObject): void {
    this.changes.push(`${what} ${metadata.name} ${metadata.resourceVersion}`);
  }
}
