import type { Canaries } from './canaries.ts';
import type { Chance } from './chance.ts';
import type { Queries } from './queries.ts';

export const NODES = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const PATHS = [
  ...[NODES, `${NODES}/node-a`, `${NODES}/zzz`, `${NODES}/node-a/status`, '/kapis', '/kapis/resources.gatehouse.io'],
  ...['/', '/healthz', '/livez', '/readyz', '/version', '/openapi', '/openapi/platform.json', '/metrics'],
  ...['/api/v1/nodes'],
  ...['/oauth/keys', '/oauth/userinfo', '/oauth/logout', '/oauth/token', '/oauth/authorize', '/oauth/nothing'],
  '/.well-known/openid-configuration',
  '/kapis/logging.gatehouse.io/v1alpha2/namespaces/a/pods/b',
  '/kapis/version',
];
/** Pieces of a path that have been read in two ways by somebody. */
const PIECES = [
  ...['.', '..', '...', '', '%2e', '%2E%2e', '.%2e', '%2f', '%5c', '\\', ';', ';a=b', '%00', '%0d%0a', '%7f', '%'],
  ...['%zz', '%u0041'],
  // Overlong forms of / and ., half a sequence, a surrogate, a character past the last one, a byte that is none.
  ...['%c0%af', '%c0%ae', '%e0%80%af', '%e2%28', '%ed%a0%80', '%f4%90%80%80', '%ff', '%c3%a9', 'Ã©', '~', '*'],
  ...['@', ':', '#', '|', 'nodes', 'n%6fdes', 'NODES', 'namespaces', '__proto__', 'constructor', 'toString', '-1'],
  ...['{name}', '$(id)', '<x>', "'"],
];
/** Request targets: paths that a reader could take for something else than they are. */
export class Targets {
  readonly #chance: Chance;
  readonly #canaries: Canaries;
  readonly #queries: Queries;

  constructor(chance: Chance, canaries: Canaries, queries: Queries) {
    this.#chance = chance;
    this.#canaries = canaries;
    this.#queries = queries;
  }

  any(): string {
    const chance = this.#chance;
    const path = () => chance.made(() => chance.one(PATHS), this.#oddPath);
    if (chance.percent(60)) return chance.percent(50) ? path() : `${path()}?${this.#queries.any()}`;
    return chance.made(
      () => `${chance.one(['http://', 'https://', 'HTTP://', 'ftp://', '//', 'http:'])}${this.#authority()}${path()}`,
      () =>
        chance.one([
          ...['*', '', '?', '#', 'a', 'a:443', '[::1]', '127.0.0.1:80'],
          ...[`${path()}#access_token=${this.#canaries.secret()}`],
        ]),
      () => chance.damaged(path()),
      () => `/${chance.one(['a', '/', '%2f', '../'])}`.repeat(chance.count(1, 900)),
    );
  }

  readonly #oddPath = (): string => {
    const chance = this.#chance;
    const segments = Array.from({ length: chance.count(1, 6) }, () =>
      chance.made(
        () => chance.one(PIECES),
        () => chance.word(),
        () => encodeURIComponent(chance.one(['漢', '😀', '\u202e', 'İ']).repeat(chance.count(1, 300))),
      ),
    );
    return `${chance.one(['', NODES, '/oauth', '/kapis'])}/${segments.join('/')}`;
  };

  #authority(): string {
    const userInfo = `ada:${this.#canaries.secret()}@a`;
    return this.#chance.one(['a', 'A:80', 'b', '', 'a@b', 'a:b:c', '[::1]', '127.0.0.1', 'a%00', userInfo]);
  }
}
