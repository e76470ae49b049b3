import { type SimulatedCluster, startSimulatedCluster } from '../../../../dev/cluster/cluster.ts';
import { type Clock, systemClock } from '../../../../src/runtime/clock.ts';
import type { Bcrypt } from '../../../../src/users/password-hash.ts';
import { Browser, FORM, type Page, send } from '../../../support/browser.ts';
import { freePorts } from '../../../support/control-plane/free-ports.ts';
import { type RunningGatehouse, startGatehouse } from '../../../support/gatehouse.ts';
import { hurriedClock } from '../../../support/hurried-clock.ts';
import { ADMINS_BINDING, ADMINS_ROLE } from '../../../support/observed/people.ts';
import { quickBcrypt } from '../../../support/passwords.ts';
import { signingKeySecret } from '../../../support/signing-key-secret.ts';
import { NODES, type Person, passwordOf } from '../stand.ts';

export const APP = 'https://app.example.com/callback';
export const RIVAL = 'https://rival.example.com/callback';
export const BYE = 'https://app.example.com/bye';
export const EVIL = 'https://evil.example';
/** RFC 7636 appendix B. */
export const PROOF = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
};
export const PKCE = { code_challenge: PROOF.challenge, code_challenge_method: 'S256' };

const CLIENTS = [
  { name: 'web', secret: 'made-up-secret-of-web', redirectURIs: [APP], postLogoutRedirectURIs: [BYE] },
  { name: 'rival', secret: 'made-up-secret-of-rival', redirectURIs: [RIVAL] },
  { name: 'asking', secret: 'made-up-secret-of-asking', redirectURIs: [APP], grantMethod: 'prompt' },
  { name: 'spa', public: true, redirectURIs: ['https://spa.example.com/'] },
  {
    ...{ name: 'cli', public: true },
    redirectURIs: ['http://127.0.0.1/callback', 'http://[::1]/callback', 'com.example.cli:/done'],
  },
  { name: 'gatehouse', secret: 'made-up-secret-of-gatehouse', grantTypes: ['password', 'refresh_token'] },
];

export const SESSION = 'gatehouse-session';
export const BROWSER = 'gatehouse-browser';

type Fields = Record<string, string>;

/** A clock whose wall time the test moves on. Waits take a tenth of their time, so a changed users file is read within 200 ms. */
class ShiftedClock implements Clock {
  #shiftMs = 0;
  readonly #hurried = hurriedClock(10);
  now = (): number => systemClock.now() + this.#shiftMs;
  monotonic = this.#hurried.monotonic;
  sleep = this.#hurried.sleep;
  after = this.#hurried.after;

  shift(ms: number): void {
    this.#shiftMs += ms;
  }
}

/** A users file of these people; no hash is computed. */
export async function usersFile(passwords: Partial<Record<Person, string>> = {}, people = ['ada', 'joe'] as Person[]) {
  const users = people.map(async (name) => {
    const passwordHash = await quickBcrypt.hash(passwords[name] ?? passwordOf(name), 10);
    return { name, groups: name === 'ada' ? ['admins'] : [], passwordHash };
  });
  return JSON.stringify({ users: await Promise.all(users) });
}

interface TokenAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
  readonly body: any;
}

/** A Gatehouse on sockets, with the clients above, as an outsider reaches it. */
export class AttackStand {
  readonly gatehouse: RunningGatehouse;
  readonly cluster: SimulatedCluster;
  readonly clock: ShiftedClock;
  readonly issuer: string;

  constructor(gatehouse: RunningGatehouse, cluster: SimulatedCluster, clock: ShiftedClock) {
    this.gatehouse = gatehouse;
    this.cluster = cluster;
    this.clock = clock;
    this.issuer = `${gatehouse.origin}/oauth`;
  }

  /** The address at which a client sends a browser here; a parameter of `undefined` is left out. */
  authorize(change: Readonly<Record<string, string | undefined>> = {}): URL {
    const usual = { client_id: 'web', redirect_uri: APP, response_type: 'code', scope: 'openid', state: 'state-1' };
    const pairs = Object.entries({ ...usual, ...change }).filter((pair): pair is [string, string] => !!pair[1]);
    return new URL(`${this.issuer}/authorize?${new URLSearchParams(pairs)}`);
  }

  at = (path: string): URL => new URL(path, this.gatehouse.origin);

  logout = (parameters: Fields = {}): URL => new URL(`${this.issuer}/logout?${new URLSearchParams(parameters)}`);

  /** The answer to the sign-in of a person who opens this address. */
  async signIn(browser: Browser, url = this.authorize(), person: Person = 'ada'): Promise<Page> {
    return browser.submit(await browser.open(url), { username: person, password: passwordOf(person) });
  }

  /** A browser in which this person has signed in for `web`, and the tokens of the client. */
  async signedIn(person: Person = 'ada') {
    const browser = new Browser();
    const { body } = await this.redeem(codeOf(await this.signIn(browser, this.authorize(), person)));
    return { browser, tokens: body as { access_token: string; refresh_token: string; id_token: string } };
  }

  /** A code for `web`. */
  async code(change: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
    return codeOf(await this.signIn(new Browser(), this.authorize(change)));
  }

  redeem(code: string, change: Fields = {}): Promise<TokenAnswer> {
    const secrets: Readonly<Record<string, string>> = Object.fromEntries(
      CLIENTS.map(({ name, secret }) => [name, secret ?? '']),
    );
    const client = change['client_id'] ?? 'web';
    const usual = { grant_type: 'authorization_code', client_id: client, code, redirect_uri: APP };
    return this.token({ ...usual, client_secret: secrets[client] ?? '', ...change });
  }

  /** Sends a token request; an empty parameter is left out. */
  async token(form: Fields): Promise<TokenAnswer> {
    const body = new URLSearchParams(Object.entries(form).filter(([, value]) => value !== '')).toString();
    const { status, text } = await send(new URL(`${this.issuer}/token`), { method: 'POST', body, headers: FORM });
    return { status, body: JSON.parse(text) };
  }

  /** The status with which this bearer token is answered. */
  async list(token: string): Promise<number> {
    return (await send(this.at(NODES), { headers: { authorization: `Bearer ${token}` } })).status;
  }

  stop = async (): Promise<void> => {
    await this.gatehouse.stop();
    await this.cluster.stop();
  };
}

/** Sessions are in the cluster, as where there are several replicas. */
export async function startAttackStand(oauthOptions: object = {}, bcrypt: Bcrypt = quickBcrypt): Promise<AttackStand> {
  const cluster = await startSimulatedCluster();
  cluster.objects.create('clusterroles', ADMINS_ROLE);
  cluster.objects.create('clusterrolebindings', ADMINS_BINDING);
  cluster.objects.create('secrets', await signingKeySecret());
  const [port = 0] = await freePorts(1);
  const clock = new ShiftedClock();
  const issuer = `http://127.0.0.1:${port}/oauth`;
  const sessions = { store: 'kubernetes' };
  const config = {
    server: { port },
    sessions,
    authentication: { oauthOptions: { issuer, clients: CLIENTS, ...oauthOptions } },
  };
  const options = { kubeconfig: cluster.kubeconfig(), users: await usersFile(), config, clock, bcrypt };
  return new AttackStand(await startGatehouse(options), cluster, clock);
}

/** The parameters that a redirect has for the client. */
export function returned(page: Page): Readonly<Record<string, string>> {
  const location = page.headers['location'];
  if (location === undefined) throw new Error(`no redirect but ${page.status}: ${page.text}`);
  return Object.fromEntries(new URL(location, page.url).searchParams);
}

export const codeOf = (page: Page): string => returned(page)['code'] ?? '';

/** The sealed value in the form of a page. */
export const sealedIn = (page: Page): string => /name="request" value="([^"]*)"/.exec(page.text)?.[1] ?? '';

/** Posts a form as a browser does, with these cookies. */
export function post(url: URL, fields: Fields, headers: Record<string, string>): Promise<Page> {
  return send(url, { method: 'POST', body: new URLSearchParams(fields).toString(), headers: { ...FORM, ...headers } });
}

/** What a person sees who gets a page and is sent nowhere. */
export const STAYS = { status: 400, location: undefined };

export const placeOf = ({ status, headers }: Page) => ({ status, location: headers['location'] });
