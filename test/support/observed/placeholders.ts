import { createHmac } from 'node:crypto';
import { mergePatch } from '../../../dev/cluster/merge-patch.ts';
import type { CaseRequest } from './case.ts';
import { exchange } from './exchange.ts';
import { CLIENTS, type Person, person } from './people.ts';

export interface ObservedServer {
  readonly port: number;
  readonly platform: string;
  /** Moves the server's wall clock ahead. */
  skip(ms: number): void;
  /** The pause after a write of accounts. Default: the time in which the cases allow the write to become visible. */
  readonly seenMs?: number;
  /** The users of the cases. Default: those of the users file. */
  person?(name: string): Pick<Person, 'name' | 'password' | 'email'>;
}

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
const basic = (id: string, secret: string): string => base64(`${formEncoded(id)}:${formEncoded(secret)}`);

/** Fills the placeholders of the recorded cases. Signs in when a case needs a token. */
export class Placeholders {
  readonly #server: ObservedServer;
  readonly #tokens = new Map<string, Promise<Pair>>();
  #last: Pair | undefined;

  constructor(server: ObservedServer) {
    this.#server = server;
  }

  #person(name: string) {
    return this.#server.person?.(name) ?? person(name);
  }

  async fill(text: string): Promise<string> {
    let filled = text;
    for (const [whole, name = '', filter] of text.matchAll(/\{\{([^}|]+)(?:\|(url|upper))?\}\}/g)) {
      const value = await this.#value(name);
      const shown = filter === 'url' ? formEncoded(value) : filter === 'upper' ? value.toUpperCase() : value;
      filled = filled.replace(whole, () => shown);
    }
    return filled;
  }

  /** Fills every string inside a JSON value. */
  async fillAll<T>(value: T): Promise<T> {
    const text = JSON.stringify(value);
    const escaped = async (part: string): Promise<string> =>
      JSON.stringify(await this.fill(JSON.parse(part) as string));
    const pieces = await Promise.all(
      [...text.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(async ([part]) => [part, await escaped(part)]),
    );
    let filled = text;
    for (const [part = '', shown = ''] of pieces) if (part !== shown) filled = filled.replaceAll(part, () => shown);
    return JSON.parse(filled) as T;
  }

  async #value(name: string): Promise<string> {
    const [kind = '', argument = '', more = ''] = name.split(':');
    if (kind === 'platform') return this.#server.platform;
    if (kind === 'origin') return `http://127.0.0.1:${this.#server.port}`;
    if (kind === 'subprotocol') return this.#subprotocol(argument);
    if (kind === 'user') return this.#person(argument).name;
    if (kind === 'password') return this.#person(argument).password;
    if (kind === 'email') return this.#person('admin').email ?? '';
    if (kind === 'repeat') return more.repeat(Number(argument));
    if (kind === 'garbage') return 'garbage';
    if (kind === 'basic') return basicCredentials(argument, this.#person('admin'));
    if (kind.startsWith('client')) return clientValue(kind);
    if (kind === 'uid') return this.#uid(argument);
    if (kind === 'version') return this.#member(name.slice('version:'.length), 'resourceVersion');
    if (kind === 'continue_of') return this.#member(name.slice('continue_of:'.length), 'continue');
    if (kind === 'uid_of') return this.#member(name.slice('uid_of:'.length), 'uid');
    if (kind === 'etag_of')
      return (await this.#get(name.slice('etag_of:'.length), 'admin')).headers['etag'] ?? '"no-etag"';
    if (kind === 'etag') return this.#etag(argument);
    if (kind === 'endpoint') return this.#endpoint(argument);
    return this.#token(kind, argument);
  }

  async #token(kind: string, user: string): Promise<string> {
    if (kind === 'access_token') return (await this.#kept(user)).access_token;
    if (kind === 'refresh_token') return (await this.#login(user)).refresh_token;
    if (kind === 'throwaway') return (await this.#login(user)).access_token;
    if (kind === 'last') return (this.#last as unknown as Record<string, string>)[user] ?? '';
    if (kind === 'refresh_token_used') return this.#used(user);
    if (kind === 'refresh_token_used_late') {
      const token = await this.#used(user);
      this.#server.skip(33_000);
      return token;
    }
    if (kind.endsWith('_logged_out'))
      return (await this.#loggedOut(user))[kind.replace('_logged_out', '') as keyof Pair];
    if (kind.startsWith('other_session'))
      return this.#otherSession(user, kind === 'other_session_all' ? '?all=true' : '');
    if (kind === 'expired') return looksExpired('at+jwt', 'access_token');
    if (kind === 'expired_refresh') return looksExpired('rt+jwt', 'refresh_token');
    if (kind.endsWith('_refresh'))
      return changed(kind.replace('_refresh', ''), (await this.#login(user)).refresh_token);
    return changed(kind === 'changed' ? 'changed_signature' : kind, (await this.#kept(user)).access_token);
  }

  /** The bearer in the form of a WebSocket subprotocol, because a browser cannot set headers there. */
  async #subprotocol(user: string): Promise<string> {
    const token = Buffer.from((await this.#kept(user)).access_token).toString('base64url');
    return `base64url.bearer.authorization.k8s.io.${token}`;
  }

  #kept(user: string): Promise<Pair> {
    const known = this.#tokens.get(user) ?? this.#login(user);
    this.#tokens.set(user, known);
    return known;
  }

  async #login(user: string): Promise<Pair> {
    const { name, password } = this.#person(user);
    return this.#grant({ grant_type: 'password', username: name, password });
  }

  async #used(user: string): Promise<string> {
    const { refresh_token } = await this.#login(user);
    this.#last = await this.#grant({ grant_type: 'refresh_token', refresh_token });
    return refresh_token;
  }

  async #loggedOut(user: string): Promise<Pair> {
    const pair = await this.#login(user);
    await this.#send('GET', '/oauth/logout', pair.access_token);
    return pair;
  }

  async #otherSession(user: string, query: string): Promise<string> {
    const other = await this.#login(user);
    const ended = await this.#login(user);
    await this.#send('GET', `/oauth/logout${query}`, ended.access_token);
    if (query !== '') this.#tokens.delete(user); // the request ended this session, too
    return other.access_token;
  }

  async #grant(parameters: Record<string, string>): Promise<Pair> {
    const { name, secret } = CLIENTS.client;
    const form = new URLSearchParams({ ...parameters, client_id: name, client_secret: secret });
    const answer = await exchange(this.#server.port, {
      method: 'POST',
      path: '/oauth/token',
      headers: [['Content-Type', 'application/x-www-form-urlencoded']],
      body: Buffer.from(form.toString()),
    });
    if (answer.status !== 200) throw new Error(`signing in for a case: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text) as Pair;
  }

  #send(method: string, path: string, bearer: string) {
    return exchange(this.#server.port, { method, path, headers: [['Authorization', `Bearer ${bearer}`]] });
  }

  async #uid(node: string): Promise<string> {
    const path = `/kapis/resources.${this.#server.platform}.io/v1alpha3/nodes/${node}`;
    const answer = await this.#send('GET', path, (await this.#kept('admin')).access_token);
    return (JSON.parse(answer.text) as { metadata: { uid: string } }).metadata.uid;
  }

  /** Sends a GET. A path without a leading slash is one of the account API. */
  async #get(path: string, as: string) {
    const whole = path.startsWith('/') ? path : `/kapis/iam.${this.#server.platform}.io/v1alpha2/${path}`;
    return this.#send('GET', await this.fill(whole), (await this.#kept(as)).access_token);
  }

  async #member(path: string, member: 'resourceVersion' | 'uid' | 'continue'): Promise<string> {
    const { text } = await this.#get(path, 'admin');
    return (JSON.parse(text) as { metadata: Record<string, string> }).metadata[member] ?? '';
  }

  /** The object at a path, merged with a patch, as a body. */
  async edited({ of, as = 'admin', merge }: NonNullable<CaseRequest['edit']>): Promise<string> {
    const { text } = await this.#get(of, as);
    return JSON.stringify(mergePatch(JSON.parse(text), await this.fillAll(merge)));
  }

  /** The path of an endpoint in the metadata; if it is not there, a path that nothing serves. */
  async #endpoint(name: string): Promise<string> {
    const answer = await exchange(this.#server.port, {
      method: 'GET',
      path: '/oauth/.well-known/openid-configuration',
      headers: [],
    });
    const url = (JSON.parse(answer.text) as Record<string, string>)[`${name}_endpoint`];
    return url === undefined ? `/oauth/no-${name}-endpoint` : new URL(url).pathname;
  }

  async #etag(query: string): Promise<string> {
    const path = `/kapis/resources.${this.#server.platform}.io/v1alpha3/nodes${query}`;
    const answer = await this.#send('GET', path, (await this.#kept('admin')).access_token);
    return answer.headers['etag'] ?? '"no-etag"';
  }
}

function clientValue(kind: string): string {
  const client = kind.startsWith('client2') ? CLIENTS.client2 : CLIENTS.client;
  return kind.endsWith('_id') ? client.name : client.secret;
}

function basicCredentials(which: string, admin: Pick<Person, 'name' | 'password'>): string {
  const { client, client2 } = CLIENTS;
  const known: Record<string, string> = {
    client: basic(client.name, client.secret),
    client2: basic(client2.name, client2.secret),
    client2_unencoded: base64(`${client2.name}:${client2.secret}`),
    client_wrong: basic(client.name, 'wrong'),
    client_empty: basic(client.name, ''),
    unknown: basic('no-such-client', 'x'),
    user: base64(`${admin.name}:${admin.password}`),
  };
  return known[which] ?? '';
}

/** A well-formed token that no server has issued and that has expired. */
function looksExpired(typ: string, tokenType: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = part({ alg: 'RS256', typ, kid: 'unknown' });
  const claims = part({
    iss: 'http://localhost:9090/oauth',
    sub: 'admin',
    exp: 1_500_000_000,
    iat: 1_499_990_000,
    token_type: tokenType,
  });
  return `${head}.${claims}.${createHmac('sha256', 'nobody').update(claims).digest('base64url')}`;
}

/** A valid token after a change that makes it invalid. */
function changed(kind: string, token: string): string {
  const [head = '', claims = '', signature = ''] = token.split('.');
  if (kind === 'changed_payload') {
    const value = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { exp: number };
    return `${head}.${Buffer.from(JSON.stringify({ ...value, exp: value.exp + 3600 })).toString('base64url')}.${signature}`;
  }
  if (kind === 'no_signature') return `${head}.${claims}.`;
  if (kind === 'alg_none') return `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${claims}.`;
  return `${head}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
}
