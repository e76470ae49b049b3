import { readFile } from 'node:fs/promises';
import { inject } from 'vitest';
import { nodeMaker, planNodes } from '../../../dev/cluster/population/nodes.ts';
import { seededRandom } from '../../../dev/cluster/seeded-random.ts';
import { ObjectRequests } from '../../support/control-plane/object-requests.ts';

const AT_ONCE = 16;

/** Node objects of the cluster, created and deleted as its administrator. */
export class ClusterNodes {
  readonly #requests: ObjectRequests;
  readonly #simulated: string[] = [];

  private constructor(requests: ObjectRequests) {
    this.#requests = requests;
  }

  static async open(): Promise<ClusterNodes> {
    const { clusters, users } = JSON.parse(await readFile(inject('kubeconfig'), 'utf8'));
    const { server, 'certificate-authority': caFile } = clusters[0].cluster;
    return new ClusterNodes(
      await ObjectRequests.open({ url: server, caFile, token: users[0].user.token }, '/api/v1/nodes'),
    );
  }

  create = (node: object): Promise<void> => this.#send('POST', '', { apiVersion: 'v1', kind: 'Node', ...node });

  delete = (name: string): Promise<void> => this.#send('DELETE', `/${name}`);

  /** Creates so many believable nodes without kubelets. No pod is put on them. */
  async simulate(count: number): Promise<void> {
    const makeNode = nodeMaker({ now: Date.now(), platform: 'gatehouse', nodeBytes: 0 }, seededRandom(1));
    await eachOf(planNodes(count), (plan) => {
      const { metadata, spec, status } = makeNode(plan);
      const { name, annotations, labels } = metadata;
      this.#simulated.push(name);
      const cordoned = { ...(spec as object), unschedulable: true };
      return this.create({ metadata: { name, annotations, labels }, spec: cordoned, status });
    });
  }

  /** Gives the simulated node at this place a label with this value. */
  label = (at: number, value: string): Promise<void> =>
    this.#send('PATCH', `/${this.#simulated[at]}`, { metadata: { labels: { 'example.test/label': value } } });

  /** One by one: to delete a collection of this size takes longer than the API server gives a request. */
  deleteSimulated = (): Promise<void> => eachOf(this.#simulated.splice(0), this.delete);

  close = (): Promise<void> => this.#requests.close();

  async #send(method: 'POST' | 'PATCH' | 'DELETE', path: string, object?: object): Promise<void> {
    await this.#requests.send(method, path, object);
  }
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const workNext = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, workNext));
}
