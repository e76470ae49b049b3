import { createHash, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { afterAll, describe, expect, test } from 'vitest';
import { MemoryAdapter } from './memory-adapter.ts';

const CALLBACK = 'https://app.example.com/callback';
const CLIENT = { client_id: 'app', token_endpoint_auth_method: 'none' };

/** The calls that change what is stored, in their order, such as `upsert Session`. */
const written: string[] = [];

class CountedAdapter extends MemoryAdapter {
  readonly #kind: string;

  constructor(kind: string) {
    super();
    this.#kind = kind;
  }

  override upsert(id: string, payload: object): Promise<void> {
    written.push(`upsert ${this.#kind}`);
    return super.upsert(id, payload);
  }

  override consume(id: string): Promise<void> {
    written.push(`consume ${this.#kind}`);
    return super.consume(id);
  }

  override destroy(id: string): Promise<void> {
    written.push(`destroy ${this.#kind}`);
    return super.destroy(id);
  }

  override revokeByGrantId(grantId: string): Promise<void> {
    written.push(`revoke ${this.#kind}`);
    return super.revokeByGrantId(grantId);
  }
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ends: (() => void)[] = [];
afterAll(() => {
  for (const end of ends) end();
});

interface Grantee {
  readonly oidc: {
    readonly session: { readonly accountId: string };
    readonly client: { readonly clientId: string };
  };
}

/** The peer with its own sign-in page. With `isTrusted` it asks nobody for consent, and makes the grant by itself. */
async function startCounted(isTrusted: boolean): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const adapters = new Map<string, CountedAdapter>();
  const provider = new Provider(origin, {
    adapter: (kind: string) => {
      const adapter = adapters.get(kind) ?? new CountedAdapter(kind);
      adapters.set(kind, adapter);
      return adapter;
    },
    clients: [{ ...CLIENT, grant_types: ['authorization_code', 'refresh_token'], redirect_uris: [CALLBACK] }],
    cookies: { keys: ['made-up'] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ...(isTrusted ? { loadExistingGrant: ({ oidc }: Grantee) => grantOf(provider, oidc) } : {}),
  });
  server.on('request', provider.callback());
  return origin;
}

async function grantOf(provider: Provider, { session, client }: Grantee['oidc']): Promise<object> {
  const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
  grant.addOIDCScope('openid');
  await grant.save();
  return grant;
}

/** A browser without scripts that goes where it is sent, as long as that is at the same server. */
class Browser {
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Answers the address of the page, or the one elsewhere that it was sent to. */
  async go(url: string, form?: Readonly<Record<string, string>>): Promise<string> {
    const Cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { Cookie },
      ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
    });
    await answer.text();
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) return url;
    const target = new URL(location, url).href;
    return target.startsWith(this.#origin) ? this.go(target) : target;
  }
}

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'; // RFC 7636 appendix B

function toAuthorize(origin: string): string {
  const request = {
    ...{ client_id: CLIENT.client_id, response_type: 'code' },
    redirect_uri: CALLBACK,
    scope: 'openid',
  };
  const challenge = createHash('sha256').update(VERIFIER).digest('base64url');
  return `${origin}/auth?${new URLSearchParams({ ...request, code_challenge: challenge, code_challenge_method: 'S256' })}`;
}

/** What this comes to, and what is written while it runs. */
async function counted<T>(what: Promise<T>): Promise<{ readonly writes: readonly string[]; readonly result: T }> {
  const before = written.length;
  const result = await what;
  return { result, writes: written.slice(before) };
}

async function tokens(origin: string, form: Readonly<Record<string, string>>): Promise<{ refresh_token: string }> {
  const body = new URLSearchParams({ client_id: CLIENT.client_id, ...form });
  const answer = await fetch(`${origin}/token`, { method: 'POST', body });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { refresh_token: string };
}

/** The writes of each step. The way to the code has one form more where consent is asked for. */
async function writesOf(isTrusted: boolean) {
  const origin = await startCounted(isTrusted);
  const browser = new Browser(origin);
  const visit = await counted(browser.go(toAuthorize(origin)));
  const login = await counted(browser.go(visit.result, { prompt: 'login', login: 'ada', password: 'any' }));
  const consent = isTrusted ? login : await counted(browser.go(login.result, { prompt: 'consent' }));
  const code = new URL(consent.result).searchParams.get('code') ?? '';
  const form = { code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
  const redemption = await counted(tokens(origin, { grant_type: 'authorization_code', ...form }));
  const { refresh_token } = redemption.result;
  const refresh = await counted(tokens(origin, { grant_type: 'refresh_token', refresh_token }));
  const forms = isTrusted ? login.writes : [...login.writes, ...consent.writes];
  return { visit: visit.writes, forms, redemption: redemption.writes, refresh: refresh.writes };
}

describe('oidc-provider, whose sign-in by browser is counted beside ours (docs/comparison.md)', () => {
  const always = {
    visit: ['upsert Interaction'],
    redemption: ['consume AuthorizationCode', 'upsert AccessToken', 'upsert RefreshToken'],
    refresh: ['consume RefreshToken', 'upsert RefreshToken', 'upsert AccessToken'],
  };

  test('writes 14 times for a sign-in with consent, one of them for the visit', async () => {
    expect(await writesOf(false)).toEqual({
      ...always,
      forms: [
        ...['upsert Interaction', 'destroy Interaction', 'upsert Interaction', 'upsert Session'],
        ...['upsert Grant', 'upsert Interaction', 'destroy Interaction', 'upsert AuthorizationCode'],
        ...['destroy Session', 'upsert Session'],
      ],
    });
  });

  test('writes 9 times for a sign-in without consent', async () => {
    const forms = ['upsert Interaction', 'destroy Interaction', 'upsert Grant', 'upsert AuthorizationCode'];
    expect(await writesOf(true)).toEqual({ ...always, forms: [...forms, 'upsert Session'] });
  });
});
