import { request } from 'undici';
import { apiDispatcher } from '../support/control-plane/api-dispatcher.ts';
import type { ControlPlane } from '../support/control-plane.ts';
import { NAMESPACE } from './helm.ts';

export const MERGE = 'application/merge-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const APPLY = 'application/apply-patch+yaml';

interface Sent {
  readonly type?: string;
  readonly as?: Readonly<Record<string, string | string[]>>;
}

export interface Answered {
  readonly status: number;
  readonly message: string;
}

/** A client of the API server with the token of Gatehouse's service account, and with nothing else. */
export interface Thief {
  send(method: string, path: string, body?: unknown, sent?: Sent): Promise<Answered>;
  close(): Promise<void>;
}

export async function stealToken(cluster: ControlPlane): Promise<Thief> {
  const dispatcher = await apiDispatcher(cluster.caFile);
  const token = await cluster.serviceAccountToken(NAMESPACE, 'gatehouse');
  return {
    async send(method, path, body, { type = 'application/json', as = {} } = {}) {
      const answer = await request(cluster.url + path, {
        dispatcher,
        method: method as 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': type, ...as },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      return { status: answer.statusCode, message: messageIn(text) };
    },
    close: () => dispatcher.close(),
  };
}

function messageIn(text: string): string {
  try {
    return String((JSON.parse(text) as { message?: string }).message ?? '');
  } catch {
    return text;
  }
}
