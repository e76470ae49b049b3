import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errors, Provider } from 'oidc-provider';
import { MemoryAdapter } from './memory-adapter.ts';
import { clients, type Person, people } from './people.ts';

export interface Peer {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  stop(): Promise<void>;
}

/** Like Gatehouse's defaults. */
const LIFE = { AccessToken: 7200, RefreshToken: 14_400, Grant: 14_400, IdToken: 7200 };

const SCOPES = ['openid', 'profile', 'email', 'offline_access'];

/**
 * oidc-provider on a free loopback port, at Gatehouse's paths, with the same people and clients. All that it answers is its own,
 * but for the password grant, which it leaves to its user: there, what comes after the client's authentication is `signIn`.
 */
export async function startPeer(): Promise<Peer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(`${origin}/oauth`, configuration());
  provider.registerGrantType('password', signIn(provider), ['username', 'password', 'scope']);
  server.on('request', provider.callback());
  return {
    origin,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function configuration(): object {
  const adapters = new Map<string, MemoryAdapter>();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    adapter: (kind: string) => {
      const adapter = adapters.get(kind) ?? new MemoryAdapter();
      adapters.set(kind, adapter);
      return adapter;
    },
    clients: clients.map(({ id, secret, grantTypes }) => ({
      client_id: id,
      ...(secret === undefined ? { token_endpoint_auth_method: 'none' } : { client_secret: secret }),
      grant_types: grantTypes,
      response_types: [],
      redirect_uris: [],
    })),
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    cookies: { keys: ['made-up'] },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: { enabled: false },
      introspection: { enabled: true, allowedPolicy: isOwn },
      revocation: { enabled: true },
    },
    claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email'] },
    findAccount: (_: unknown, id: string) => account(id),
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    rotateRefreshToken: true,
    routes: {
      token: '/oauth/token',
      revocation: '/oauth/revoke',
      introspection: '/oauth/introspect',
      userinfo: '/oauth/userinfo',
      jwks: '/oauth/keys',
    },
    scopes: SCOPES,
    ttl: LIFE,
  };
}

/** A client asks about its own tokens, as at Gatehouse. */
const isOwn = (_: unknown, client: { clientId: string; clientAuthMethod: string }, token: { clientId: string }) =>
  client.clientAuthMethod !== 'none' && client.clientId === token.clientId;

const named = (name: string | undefined): Person | undefined =>
  people.find((person) => person.name === name || person.email === name);

function account(id: string): object | undefined {
  const person = named(id);
  return (
    person && {
      accountId: person.name,
      claims: () => ({ sub: person.name, name: person.name, preferred_username: person.name, email: person.email }),
    }
  );
}

type Handler = Parameters<Provider['registerGrantType']>[1];

/** RFC 6749 4.3, in the terms of oidc-provider. */
const signIn =
  (provider: Provider): Handler =>
  async (context) => {
    const { params, client } = context.oidc;
    const { username, password, scope } = params;
    if (scope?.split(' ').some((word) => !SCOPES.includes(word))) throw new errors.InvalidScope('unknown');
    if (!username || !password) throw new errors.InvalidRequest('missing');
    const person = named(username);
    if (person?.password !== password) throw new errors.InvalidGrant('incorrect');
    const grant = new provider.Grant({ accountId: person.name, clientId: client.clientId });
    if (scope) grant.addOIDCScope(scope);
    const shared = { accountId: person.name, client, grantId: await grant.save(), gty: 'password', scope };
    const access = new provider.AccessToken(shared);
    const refresh = new provider.RefreshToken({ ...shared, rotations: 0 });
    context.body = {
      access_token: await access.save(),
      token_type: access.tokenType,
      refresh_token: await refresh.save(),
      expires_in: access.expiration,
      ...(scope ? { scope } : {}),
    };
  };
