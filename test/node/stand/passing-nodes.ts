import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterNodes } from './cluster-nodes.ts';

const PAUSE_MS = 400;
/** How many are there at a time. */
const PRESENT = 10;

/** Nodes without a kubelet, which come and go one after the other, each under a name of its own. */
export class PassingNodes {
  readonly created: string[] = [];
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Creates and deletes nodes until the signal aborts; then deletes the others. */
  async run(signal: AbortSignal): Promise<void> {
    const nodes = await ClusterNodes.open();
    const present: string[] = [];
    while (!signal.aborted) {
      const name = `${this.#prefix}-${this.created.length}`;
      await nodes.create({ metadata: { name } });
      this.created.push(name);
      present.push(name);
      if (present.length > PRESENT) await nodes.delete(present.shift()!);
      await sleep(PAUSE_MS);
    }
    for (const name of present) await nodes.delete(name);
    await nodes.close();
  }
}
