import { type Agent, request } from 'undici';
import { apiDispatcher } from './api-dispatcher.ts';
import type { ApiAccess } from './clients.ts';

/** Sends requests about the objects of one collection directly to an API server, over connections of its own. */
export class ObjectRequests {
  readonly #access: ApiAccess;
  readonly #collection: string;
  readonly #dispatcher: Agent;

  private constructor(access: ApiAccess, collection: string, dispatcher: Agent) {
    this.#access = access;
    this.#collection = collection;
    this.#dispatcher = dispatcher;
  }

  /** `collection` is a path: `/api/v1/nodes`. */
  static async open(access: ApiAccess, collection: string): Promise<ObjectRequests> {
    return new ObjectRequests(access, collection, await apiDispatcher(access.caFile));
  }

  /** `path` is the part after the path of the collection. A PATCH is a merge patch. Rejects unless the answer is a success. */
  async send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, object?: object): Promise<unknown> {
    const { statusCode, body } = await request(this.#access.url + this.#collection + path, {
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
