import { createHash, randomBytes } from 'node:crypto';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { expect } from 'vitest';
import { startSimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { Browser, NAVIGATION, type Page, send } from '../../support/browser.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { hashOf } from '../../support/passwords.ts';
import { signingKeySecret } from '../../support/signing-key-secret.ts';

export const CALLBACK = 'https://rp.example.com/callback';
export const BYE = 'https://rp.example.com/post_logout_redirect';
const BASIC = { name: 'first', secret: 'made-up-secret-of-first', redirectURIs: [CALLBACK] };
const CLIENTS = [
  { ...BASIC, postLogoutRedirectURIs: [BYE] },
  { ...BASIC, name: 'second', secret: 'made-up-secret-of-second' },
  { name: 'public', public: true, redirectURIs: [CALLBACK] },
];

const USER = { username: 'ada', password: 'made-up-password-of-ada' };

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

/** The answer of an endpoint that speaks JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a token request differs in from the usual one. */
interface TokenChange {
  readonly client?: string;
  /** Default: `client_secret_basic`. */
  readonly method?: 'client_secret_post' | 'none';
  readonly form?: Readonly<Record<string, string>>;
}

/** A relying party as the OpenID Foundation's suite plays one: its clients and its checks. */
export class RelyingParty {
  readonly issuer: string;
  readonly #clock: ShiftedClock;
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;

  constructor(issuer: string, clock: ShiftedClock) {
    this.issuer = issuer;
    this.#clock = clock;
    this.#keys = createRemoteJWKSet(new URL(`${issuer}/keys`));
  }

  /** Lets time pass for Gatehouse and for these checks, without waiting. */
  pass(seconds: number): void {
    this.#clock.shiftMs += 1_000 * seconds;
  }

  nowSeconds = (): number => Math.floor(this.#clock.now() / 1_000);

  /** The address that the browser is sent to, with a new state and nonce; `undefined` leaves a parameter out. */
  request(change: Readonly<Record<string, string | undefined>> = {}): URL {
    const usual = {
      ...{ client_id: 'first', redirect_uri: CALLBACK, response_type: 'code', scope: 'openid' },
      ...{ state: randomBytes(8).toString('hex'), nonce: randomBytes(8).toString('hex') },
    };
    const given = Object.entries({ ...usual, ...change }).filter(([, value]) => value !== undefined);
    return new URL(`${this.issuer}/authorize?${new URLSearchParams(given as [string, string][])}`);
  }

  /** The person signs in on this page. */
  signIn = (browser: Browser, page: Page): Promise<Page> => browser.submit(page, USER);

  /** The code with which the browser comes back to this request, whose answer is checked. */
  codeOf(url: URL, answer: Page): string {
    const returned = this.returned(url, answer);
    expect(returned.get('error')).toBeNull();
    return returned.get('code') ?? '';
  }

  /** The parameters with which the browser comes back: the state is that of the request, and `iss` ours (RFC 9207). */
  returned(url: URL, answer: Page): URLSearchParams {
    expect(answer.status).toBe(303);
    const location = new URL(answer.headers['location'] ?? '');
    expect(`${location.origin}${location.pathname}`).toBe(CALLBACK);
    expect(location.searchParams.get('state')).toBe(url.searchParams.get('state'));
    expect(location.searchParams.get('iss')).toBe(this.issuer);
    return location.searchParams;
  }

  async token({ client = 'first', method, form = {} }: TokenChange): Promise<JsonAnswer> {
    const { secret = '' } = CLIENTS.find(({ name }) => name === client) as { secret?: string };
    const basic = Buffer.from(`${client}:${secret}`).toString('base64');
    const inForm = { client_id: client, ...(method === 'none' ? {} : { client_secret: secret }) };
    return asJson(
      await fetch(`${this.issuer}/token`, {
        method: 'POST',
        headers: method ? {} : { Authorization: `Basic ${basic}` },
        body: new URLSearchParams({ ...(method ? inForm : {}), ...form }),
      }),
    );
  }

  redeem = (code: string, { form = {}, ...change }: TokenChange = {}): Promise<JsonAnswer> =>
    this.token({ ...change, form: { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, ...form } });

  /** The tokens for the answer to this request, and the claims of the checked ID token. */
  async tokensFor(url: URL, answer: Page, change: TokenChange = {}): Promise<Tokens & { readonly claims: JWTPayload }> {
    const { status, headers, body } = await this.redeem(this.codeOf(url, answer), change);
    expect([status, body['token_type']]).toEqual([200, 'Bearer']);
    expect(headers.get('cache-control')).toContain('no-store');
    const tokens = body as unknown as Tokens;
    const claims = await this.verified(tokens, url.searchParams.get('client_id') ?? '');
    expect(claims['nonce']).toBe(url.searchParams.get('nonce') ?? undefined);
    return { ...tokens, claims };
  }

  /** The claims of the ID token, after the checks of OpenID Connect Core 3.1.3.7 and of `at_hash` (3.1.3.6). */
  async verified({ id_token, access_token }: Tokens, audience: string): Promise<JWTPayload> {
    const rules = { issuer: this.issuer, audience, algorithms: ['RS256'], currentDate: new Date(this.#clock.now()) };
    const { payload } = await jwtVerify(id_token, this.#keys, rules);
    const digest = createHash('sha256').update(access_token).digest().subarray(0, 16);
    expect(payload['at_hash']).toBe(digest.toString('base64url'));
    expect(payload.sub).toBe('ada');
    return payload;
  }

  userinfo = async (accessToken: string, method = 'GET'): Promise<JsonAnswer> =>
    asJson(await fetch(`${this.issuer}/userinfo`, { method, headers: { Authorization: `Bearer ${accessToken}` } }));

  /** The address of a sign-out. */
  logout = (parameters: Record<string, string> = {}): URL =>
    new URL(`${this.issuer}/logout?${new URLSearchParams(parameters)}`);

  /** A whole sign-in for this request, in a browser of its own unless one is given. */
  async signedIn(change: Readonly<Record<string, string | undefined>> = {}, browser = new Browser()) {
    const url = this.request(change);
    const page = await browser.open(url);
    expect([page.status, page.text.includes('type="password"')]).toEqual([200, true]);
    return { browser, ...(await this.tokensFor(url, await this.signIn(browser, page))) };
  }

  /** Posts the request as a form of another site, and follows the redirect as a browser does. */
  async posted(url: URL, browser: Browser): Promise<Page> {
    const headers = { ...NAVIGATION, 'Content-Type': 'application/x-www-form-urlencoded' };
    const body = url.searchParams.toString();
    const moved = await send(new URL(url.pathname, url), { method: 'POST', body, headers });
    expect(moved.status).toBe(303);
    return browser.open(new URL(moved.headers['location'] ?? '', url));
  }
}

async function asJson(answer: Response): Promise<JsonAnswer> {
  const { status, headers } = answer;
  return { status, headers, body: (await answer.json()) as JsonAnswer['body'] };
}

/** The clock of the system, ahead by what a test wants. */
class ShiftedClock implements Clock {
  shiftMs = 0;
  readonly sleep = systemClock.sleep;
  readonly after = systemClock.after;
  readonly monotonic = systemClock.monotonic;
  now = (): number => systemClock.now() + this.shiftMs;
}

/** Gatehouse at the address that it issues tokens for, with Ada, who has a verified e-mail address; all tests of a file share it. */
export async function startRelyingParty(): Promise<{ readonly party: RelyingParty; stop(): Promise<void> }> {
  const cluster = await startSimulatedCluster();
  cluster.objects.create('secrets', await signingKeySecret());
  const [port = 0] = await freePorts(1);
  const issuer = `http://127.0.0.1:${port}/oauth`;
  const config = { server: { port }, authentication: { oauthOptions: { issuer, clients: CLIENTS } } };
  const passwordHash = await hashOf(USER.password);
  const users = [{ name: 'ada', email: 'ada@example.com', emailVerified: true, groups: ['admins'], passwordHash }];
  const clock = new ShiftedClock();
  const kubeconfig = cluster.kubeconfig();
  const gatehouse = await startGatehouse({ kubeconfig, config, clock, users: JSON.stringify({ users }) });
  return {
    party: new RelyingParty(issuer, clock),
    stop: async () => {
      await gatehouse.stop();
      await cluster.stop();
    },
  };
}
