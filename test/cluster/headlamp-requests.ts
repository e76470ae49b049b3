import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type ErrorEvent, WebSocket } from 'undici';
import type { WatchEvent } from '../support/watcher.ts';

/*
 * The requests of a list page of Headlamp 0.45.0 (github.com/kubernetes-sigs/headlamp, 6d2b42cc71d4), as its server sends them to the
 * cluster. Its pages ask that server for `/clusters/NAME/…`; the server takes the prefix off and adds the token.
 */

/** The pod page asks for this many (`DEFAULT_LIST_LIMIT`): frontend/src/components/pod/List.tsx, lib/k8s/api/v2/useKubeObjectList.ts. */
const PAGE = 1_000;

/** Where the person opened Headlamp. */
export const PAGE_ORIGIN = 'https://headlamp.example.com';

/** `KubeObjectEndpoint.toUrl` and `makeUrl`: frontend/src/lib/k8s/api/v2/KubeObjectEndpoint.ts, makeUrl.ts. */
const collection = (resource: string, namespace?: string): string =>
  namespace === undefined ? `/api/v1/${resource}` : `/api/v1/namespaces/${namespace}/${resource}`;

/** What a page lists: frontend/src/lib/k8s/api/v2/useKubeObjectList.ts. */
export const LISTS = {
  /** `Pod.useList`, with no namespace chosen. */
  pods: `${collection('pods')}?limit=${PAGE}`,
  /** `Namespace.useList`: the filter of namespaces above every page. */
  namespaces: collection('namespaces'),
  /** One request for each of the namespaces that are chosen, or are `allowedNamespaces`; these share the limit (`getPerRequestQueryParams`). */
  podsOf: (namespace: string, chosen: number): string =>
    `${collection('pods', namespace)}?limit=${Math.floor(PAGE / chosen)}`,
  /** `loadMore`. */
  more: (path: string, token: string): string => `${path}&${new URLSearchParams({ continue: token })}`,
} as const;

/** The watch from the version of a list, without the parameters of pages (`withoutPaginationParams`): useKubeObjectList.ts. */
export const watchOf = (resource: string, version: string, namespace?: string): string =>
  `${collection(resource, namespace)}?watch=1&resourceVersion=${version}`;

/**
 * A GET of a page: `clusterFetch` sets no header (frontend/src/lib/k8s/api/v2/fetch.ts), so these are those of a browser. The server passes
 * them on with its own name and the token of a cookie (`clusterRequestHandler`, backend/cmd/headlamp.go; `buildUserAgent`,
 * backend/pkg/kubeconfig/kubeconfig.go).
 */
export const getHeaders = (token: string): Record<string, string> => ({
  accept: '*/*',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-US,en;q=0.9',
  authorization: `Bearer ${token}`,
  cookie: `headlamp-auth-gatehouse.0=${token}`,
  referer: `${PAGE_ORIGIN}/c/gatehouse/pods`,
  'sec-fetch-dest': 'empty',
  'sec-fetch-mode': 'cors',
  'sec-fetch-site': 'same-origin',
  'user-agent': 'Headlamp 0.45.0 (linux/amd64)',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-host': 'gatehouse.example.com',
});

/** The forms in which a watch is opened: always as a websocket, never as a GET. */
export const WATCHES = {
  /**
   * A socket for each watch, the default: `openWebSocket` (frontend/src/lib/k8s/api/v2/webSocket.ts), passed on with the Origin of the page.
   * The older `connectStreamWithParams` (frontend/src/lib/k8s/api/v1/streamingApi.ts) sends the same.
   */
  'its pages': (_: string, token: string): Record<string, string> => ({
    ...getHeaders(token),
    origin: PAGE_ORIGIN,
    'sec-websocket-protocol': 'base64.binary.k8s.io',
  }),
  /**
   * With `REACT_APP_ENABLE_WEBSOCKET_MULTIPLEXER=true` the server opens the sockets and passes their messages on in one: `dialWebSocket`,
   * backend/cmd/multiplexer.go. Its Origin is the cluster's address.
   */
  'its multiplexer': (url: string, token: string): Record<string, string> => ({
    authorization: `Bearer ${token}`,
    origin: url,
    'user-agent': 'Go-http-client/1.1',
  }),
} as const;
export type WatchForm = keyof typeof WATCHES;

/** The key of RFC 6455 section 1.3. */
const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Asks for a websocket. Resolves to the answer, with 101 as soon as it is open; then it is closed. */
export async function askWebsocket(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number; text: string }> {
  const sent = request(url, { headers: { ...headers, ...UPGRADE }, agent: false });
  sent.on('upgrade', (response, socket) => {
    socket.destroy();
    sent.emit('response', response);
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const status = response.statusCode ?? 0;
  const text = status === 101 ? '' : Buffer.concat(await response.toArray()).toString();
  sent.destroy();
  return { status, text };
}

/** An open websocket of a watch. */
export class WatchSocket {
  /** The messages as they came. */
  readonly texts: string[] = [];
  /** The code with which the server closed it. */
  closedWith: number | undefined;
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => void this.texts.push(data));
    socket.addEventListener('close', ({ code }) => {
      this.closedWith = code;
    });
  }

  static async open(form: WatchForm, url: string, path: string, token: string): Promise<WatchSocket> {
    const { 'sec-websocket-protocol': protocols = [], ...headers } = WATCHES[form](url, token);
    const socket = new WebSocket(url.replace('http', 'ws') + path, { protocols, headers });
    const opened = new WatchSocket(socket);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('error', ({ error, message }: ErrorEvent) => reject(error ?? new Error(message)));
    });
    return opened;
  }

  /** Headlamp parses each message as JSON (`type: 'json'`): a watch sends text, also with `base64.binary.k8s.io`. */
  get events(): WatchEvent[] {
    return this.texts.map((text) => JSON.parse(text));
  }

  /** `TYPE namespace/name` of each event. */
  get story(): string[] {
    return this.events.map(({ type, object }) => `${type} ${object.metadata.namespace}/${object.metadata.name}`);
  }

  close = (): void => this.#socket.close();
}
