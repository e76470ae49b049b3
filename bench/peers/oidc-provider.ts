import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryAdapter } from '../../test/integration/oauth-differential/memory-adapter.ts';
import { type Children, end } from '../children.ts';
import type { Target } from '../load/connection.ts';
import { BROWSER_CLIENTS } from './sign-in-page.ts';

/** Another authorization server, in a process of its own. */
export interface OidcProvider {
  readonly target: Target;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts oidc-provider with the client of the bench and its storage in memory. It keeps each authorization request there, and sends the
 * browser on to a page, which is not its own.
 */
export async function startOidcProvider(children: Children): Promise<OidcProvider> {
  const child = children.fork(import.meta.filename);
  const [port] = (await once(child, 'message')) as [number];
  return { target: { port, headers: {} }, pid: child.pid ?? 0, stop: () => end(child) };
}

async function serve(): Promise<void> {
  // Only this process needs it: it takes long to load, and says on the console that this Node.js is new to it.
  const { Provider } = await import('oidc-provider');
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const adapters = new Map<string, MemoryAdapter>();
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    adapter: (kind: string) => {
      const adapter = adapters.get(kind) ?? new MemoryAdapter();
      adapters.set(kind, adapter);
      return adapter;
    },
    clients: BROWSER_CLIENTS.clients.map(({ name, secret, redirectURIs }) => ({
      client_id: name,
      client_secret: secret,
      redirect_uris: redirectURIs,
      grant_types: ['authorization_code'],
    })),
    cookies: { keys: ['made-up'] },
    features: { devInteractions: { enabled: false } },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    routes: { authorization: '/oauth/authorize' },
    scopes: ['openid', 'profile'],
  });
  server.on('request', provider.callback());
  process.send?.(port);
  process.on('disconnect', () => process.exit(0));
}

if (import.meta.main) await serve();
