import { type Agent, request } from 'undici';
import { apiDispatcher } from './api-dispatcher.ts';
import type { ApiAccess } from './clients.ts';

const NODES = '/api/v1/nodes';

/** Sends requests about nodes directly to an API server, over connections of its own. */
export class NodeRequests {
  readonly #access: ApiAccess;
  readonly #dispatcher: Agent;

  private constructor(access: ApiAccess, dispatcher: Agent) {
    this.#access = access;
    this.#dispatcher = dispatcher;
  }

  static async open(access: ApiAccess): Promise<NodeRequests> {
    return new NodeRequests(access, await apiDispatcher(access.caFile));
  }

  /** `path` is the part after the path of all nodes. A PATCH is a merge patch. Rejects unless the answer is a success. */
  async send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, object?: object): Promise<unknown> {
    const { statusCode, body } = await request(this.#access.url + NODES + path, {
      method,
      dispatcher: this.#dispatcher,
      headers: {
        authorization: `Bearer ${this.#access.token}`,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
      body: object ? JSON.stringify(object) : null,
    });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`${method} ${path} was answered ${statusCode}: ${text}`);
    return JSON.parse(text);
  }

  close = (): Promise<void> => this.#dispatcher.close();
}
