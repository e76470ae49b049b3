import type { Canaries } from './canaries.ts';
import type { Chance } from './chance.ts';

/** Tokens that the server gave out and takes: to be used, and to be damaged. They change when a request has ended them. */
export interface GoodTokens {
  readonly access: string;
  /** Of somebody without any right. */
  readonly powerless: string;
  readonly refresh: string;
}

const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const ODD_HEADERS = [
  ...['Accept: */*', 'Accept: application/yaml', 'Accept: text/event-stream', 'Accept: ;q=x,,'],
  ...['Accept-Encoding: gzip;q=0, *', 'Connection: keep-alive, close', 'Connection: Content-Length'],
  ...['Keep-Alive: timeout=-1', 'TE: trailers', 'Trailer: Host'],
  ...['Upgrade: websocket', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk', 'Expect: pie', 'Content-Encoding: gzip'],
  ...['X-Forwarded-For: 127.0.0.1', 'X-Forwarded-Host: b', 'Forwarded: for=";', 'X-Original-URL: /healthz'],
  ...['X-Remote-User: ada', 'X-HTTP-Method-Override: DELETE', 'Impersonate-User: system:admin', 'Origin: null'],
  ...['Origin: https://evil.example.com', 'If-None-Match: *', 'If-None-Match: ",', 'Range: bytes=0-'],
  ...['If-Modified-Since: never', 'Date: x', `Via: ${'1.1 a,'.repeat(200)}`, 'Access-Control-Request-Method: \t'],
  ...['Last-Event-ID: e1-1', 'X-Request-Id: a b', `X-Request-Id: ${'a'.repeat(9_000)}`, 'traceparent: 00-0-0-0'],
  ...['User-Agent: \t"\\', `User-Agent: ${'"'.repeat(6_000)}`, 'X:', '__proto__: a', 'constructor: a'],
  ...['Proxy-Authorization: Basic eDp5', 'Proxy-Connection: keep-alive', 'X: é', 'Content-Type: application/json'],
];
/** No header lines by RFC 9112 5. */
const BROKEN_LINES = [
  ...['X: a\r\n b', ' X: a', 'X : a', 'X', '\t', ': empty', 'a b: c', 'a\tb: c', 'é: c', 'X: a\0b', 'X: a\rb'],
  ...['Host: b', 'Host : b'],
  ...['Content-Length : 3', 'Transfer-Encoding : chunked', 'X: \x7f', 'X\0: a', '(X): a', 'Content-Length: 3\nX: a'],
];

/** Header lines: odd ones, many, large, and credentials of every shape. */
export class Headers {
  readonly #chance: Chance;
  readonly #canaries: Canaries;
  readonly #tokens: GoodTokens;

  constructor(chance: Chance, canaries: Canaries, tokens: GoodTokens) {
    this.#chance = chance;
    this.#canaries = canaries;
    this.#tokens = tokens;
  }

  any(): string[] {
    const chance = this.#chance;
    const lines = chance.some(chance.percent(4) ? 130 : 3, () => chance.one(ODD_HEADERS));
    if (chance.percent(8)) lines.push(chance.one(BROKEN_LINES));
    if (chance.percent(75)) lines.push(this.authorization());
    if (chance.percent(4)) lines.push(this.authorization());
    if (chance.percent(15)) lines.push(`Cookie: token=${this.#canaries.secret()}; session="${this.#canaries.secret()}`);
    if (chance.percent(5)) lines.push(`X-Api-Key: ${this.#canaries.secret()}`);
    if (chance.percent(2)) lines.push(`X: ${'x'.repeat(chance.count(1, 20_000))}`);
    return lines;
  }

  /** A token that is taken, unless its session has ended. */
  good(): string {
    return `Authorization: Bearer ${this.#tokens.access}`;
  }

  authorization(): string {
    const chance = this.#chance;
    const scheme = chance.percent(80)
      ? 'Bearer'
      : chance.one(['bEaReR', 'Bearer ', 'Basic', 'Digest', 'Bearer Bearer', '']);
    const name = chance.percent(98) ? 'Authorization' : chance.one(['authorization', 'AUTHORIZATION ']);
    const known = () => `${name}: ${chance.one([scheme, 'Bearer', 'Bearer'])} ${this.#bearer()}`;
    return chance.made(
      known,
      known,
      () => `${name}: ${this.#canaries.basic(chance.one(['gatehouse', 'ada', '', 'é', 'a:b', '%zz']))}`,
    );
  }

  /** Good, damaged, forged, or nothing of the kind. */
  #bearer(): string {
    const chance = this.#chance;
    const { access, powerless, refresh } = this.#tokens;
    const good = () => chance.one([access, access, powerless, refresh]);
    if (chance.percent(60)) return good();
    return chance.made(
      () => chance.damaged(good()),
      () => this.#canaries.token(),
      this.#forged,
      () => `${this.#canaries.secret()}${'a'.repeat(chance.count(1, 12_000))}`,
      () =>
        chance.one(['', 'a', '.', '..', 'a.b.c', 'a.b.c.d.e', 'a,b', 'e30.e30.e30', 'null', '{}', 'Ã©', '=', '\u007f']),
    );
  }

  /** A head and claims that no issuer would write, and a signature that nobody made. */
  readonly #forged = (): string => {
    const chance = this.#chance;
    const [goodHead = '', goodClaims = ''] = this.#tokens.access.split('.');
    const head = chance.made<unknown>(
      () => ({ alg: chance.one(['none', 'NONE', 'HS256', 'RS512', 'PS256', '', null, 1, {}]), typ: 'at+jwt' }),
      () => ({
        alg: 'RS256',
        typ: 'at+jwt',
        kid: chance.one(['../../etc/passwd', '__proto__', ['a'], {}, null, 'k'.repeat(4_000)]),
      }),
      () => ({ alg: 'RS256', jku: 'http://127.0.0.1:1/', crit: ['exp'], b64: false, zip: 'DEF', jwk: {} }),
      () => `{"alg":"RS256","alg":"none"}${'['.repeat(chance.count(0, 2_000))}`,
      () => chance.one(['[]', 'null', '1', '"a"', '{', '\ufeff{}']),
    );
    const claims = chance.made<unknown>(
      () => ({
        iss: 'x',
        sub: chance.one(['ada', '', 1, null, '\ud800', 'а'.repeat(100)]),
        exp: chance.one([0, -1, 1e300, 'x', 1.5]),
      }),
      () => `{"sub":"ada","sub":"joe","__proto__":{"groups":["admins"]},"exp":1e400}`,
      () => `{"a":${'['.repeat(chance.count(1, 2_000))}`,
    );
    const first = chance.percent(30) ? goodHead : part(head);
    const second = chance.percent(30) ? goodClaims : part(claims);
    return `${first}.${second}.${chance.one(['', part(this.#canaries.secret()), this.#canaries.secret(), '==', 'A'.repeat(342)])}`;
  };
}
