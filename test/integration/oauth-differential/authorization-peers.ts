import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { startSimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { Browser, type Page } from '../../support/browser.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { hashOf } from '../../support/passwords.ts';
import { MemoryAdapter } from './memory-adapter.ts';
import { ada } from './people.ts';

export const CALLBACK = 'https://app.example.com/callback';
const SECRET = 'made-up-secret-of-web';

/** A server as a browser sees it, which is signed in or not. */
export interface Server {
  readonly issuer: string;
  /** What this authorization request comes to. */
  outcome(query: string, browser: Browser): Promise<string>;
  /** A browser in which Ada has signed in. */
  signedIn(): Promise<Browser>;
  stop(): Promise<void>;
}

const REQUEST = new URLSearchParams({
  client_id: 'web',
  redirect_uri: CALLBACK,
  response_type: 'code',
  scope: 'openid',
});

/** What the browser brings to the client, and how, if not in the query of a redirect. */
function toClient({ headers, text }: Page): { readonly parameters: URLSearchParams; readonly how: string } | undefined {
  const location = headers['location'];
  if (location?.startsWith(CALLBACK)) {
    const { hash, searchParams } = new URL(location);
    return hash === ''
      ? { parameters: searchParams, how: '' }
      : { parameters: new URLSearchParams(hash.slice(1)), how: ' by fragment' };
  }
  if (!text.includes(`action="${CALLBACK}"`)) return undefined;
  const fields = [...text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]);
  return { parameters: new URLSearchParams(fields), how: ' by form' };
}

/** As in `code, state, iss` or `invalid_request, state, iss by form`; `undefined` if the browser is not sent to the client. */
function atClient(page: Page, issuer: string): string | undefined {
  const sent = toClient(page);
  if (!sent) return undefined;
  const { parameters, how } = sent;
  const what = parameters.get('error') ?? (parameters.has('code') ? 'code' : 'nothing');
  const more = [parameters.get('state') === 's-1' && 'state', parameters.get('iss') === issuer && 'iss'];
  return [what, ...more.filter(Boolean)].join(', ') + how;
}

/** The whole service in front of a simulated cluster. */
export async function startGatehouseServer(): Promise<Server> {
  const cluster = await startSimulatedCluster();
  const [port = 0] = await freePorts(1);
  const issuer = `http://127.0.0.1:${port}/oauth`;
  const redirectURIs = [CALLBACK];
  const clients = [
    { name: 'web', secret: SECRET, redirectURIs },
    { name: 'public', public: true, redirectURIs },
  ];
  const config = { server: { port }, authentication: { oauthOptions: { issuer, clients } } };
  const users = [{ name: ada.name, email: ada.email, passwordHash: await hashOf(ada.password) }];
  const kubeconfig = cluster.kubeconfig();
  const gatehouse = await startGatehouse({ kubeconfig, config, users: JSON.stringify({ users }) });
  const open = (query: string, browser: Browser) => browser.open(new URL(`${issuer}/authorize?${query}`));
  return {
    issuer,
    outcome: async (query, browser) => {
      const page = await open(query, browser);
      if (page.text.includes('type="password"')) return 'sign-in page';
      if (page.text.includes('name="decision"')) return 'consent page';
      return atClient(page, issuer) ?? (page.status === 400 ? 'error page' : `${page.status}`);
    },
    signedIn: async () => {
      const browser = new Browser();
      await browser.submit(await open(`${REQUEST}`, browser), { username: ada.name, password: ada.password });
      return browser;
    },
    stop: async () => {
      await gatehouse.stop();
      await cluster.stop();
    },
  };
}

/** oidc-provider with the same clients. Its pages are left to its user: here they are the redirect to `/page/<what is asked>`. */
export async function startPeerServer(): Promise<Server> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = `${origin}/oauth`;
  const provider = new Provider(issuer, peerConfiguration());
  const callback = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url?.startsWith('/page/login/')) return callback(request, response);
    void provider.interactionFinished(request, response, { login: { accountId: ada.name } });
  });
  const open = (query: string, browser: Browser) => browser.open(new URL(`${issuer}/authorize?${query}`));
  return {
    issuer,
    outcome: async (query, browser) => {
      const page = await open(query, browser);
      const asked = /^\/page\/(\w+)\//.exec(page.headers['location'] ?? '')?.[1];
      if (asked) return asked === 'login' ? 'sign-in page' : `${asked} page`;
      return atClient(page, issuer) ?? (page.status === 400 ? 'error page' : `${page.status}`);
    },
    signedIn: async () => {
      const browser = new Browser();
      let page = await open(`${REQUEST}`, browser);
      for (let hop = 0; hop < 2; hop++) page = await browser.open(new URL(page.headers['location'] ?? '', origin));
      return browser;
    },
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What oidc-provider tells functions of its configuration. */
interface Context {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly provider: Provider;
    readonly requestParamOIDCScopes: ReadonlySet<string>;
  };
}

function peerConfiguration(): object {
  const adapters = new Map<string, MemoryAdapter>();
  const client = { redirect_uris: [CALLBACK], response_types: ['code'], grant_types: ['authorization_code'] };
  return {
    adapter: (kind: string) => {
      const adapter = adapters.get(kind) ?? new MemoryAdapter();
      adapters.set(kind, adapter);
      return adapter;
    },
    clients: [
      { ...client, client_id: 'web', client_secret: SECRET },
      { ...client, client_id: 'public', token_endpoint_auth_method: 'none' },
    ],
    cookies: { keys: ['made-up'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: {
      url: (_: unknown, { uid, prompt }: { uid: string; prompt: { name: string } }) => `/page/${prompt.name}/${uid}`,
    },
    // Like `grantMethod: auto`: nobody is asked, unless the client wants it.
    loadExistingGrant: async ({ oidc: { provider, client, session, requestParamOIDCScopes } }: Context) => {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope([...requestParamOIDCScopes].join(' '));
      await grant.save();
      return grant;
    },
    pkce: { required: (_: unknown, { clientId }: { clientId: string }) => clientId === 'public' },
    responseTypes: ['code'],
    routes: { authorization: '/oauth/authorize', token: '/oauth/token' },
    scopes: ['openid', 'profile', 'email', 'groups', 'offline_access'],
  };
}
