import type { Canaries } from './canaries.ts';
import type { Chance } from './chance.ts';
import type { GoodTokens } from './headers.ts';

/** A body, and what its sender says that it is. */
export interface Body {
  readonly type: string;
  readonly text: string;
}

const FORM = 'application/x-www-form-urlencoded';
const TYPES = [
  ...[FORM, FORM, FORM, FORM, `${FORM}; charset=utf-8`, `${FORM}; charset=utf-7`, `${FORM};`, 'application/json'],
  ...['text/plain'],
  ...['multipart/form-data; boundary=x', '', 'a', 'a/b;c="', 'application/json; charset=latin1', FORM.toUpperCase()],
];
const VALUES = [
  ...['', 'true', '-1', '%', '%zz', '%00', '%ff', '%c0%af', '%ed%a0%80', '+', '[]', '{}', 'null', '\u0000'],
  ...['é', '😀'],
];
const GRANTS = ['authorization_code', '', 'PASSWORD', '__proto__', 'password refresh_token'];
/** Nobody whose failures would keep the sign-ins of this run out. */
const PEOPLE = [
  ...['joe', 'nobody', 'ADA', 'ada ', 'ada\u0000', '\u202eada', 'аda', 'system:admin', 'a@b', '', '__proto__'],
  'x'.repeat(3_000),
];
const V1 = 'authentication.k8s.io/v1';

/** Bodies of the endpoints under /oauth: forms and JSON, wrong, doubled, nested, huge, and now and then right. */
export class Bodies {
  readonly #chance: Chance;
  readonly #canaries: Canaries;
  readonly #tokens: GoodTokens;

  constructor(chance: Chance, canaries: Canaries, tokens: GoodTokens) {
    this.#chance = chance;
    this.#canaries = canaries;
    this.#tokens = tokens;
  }

  any(): Body {
    const chance = this.#chance;
    const text = chance.made(this.#form, this.#form, this.#review, this.#json, () => chance.bytes(300));
    const type = chance.percent(85) ? (text.startsWith('{') ? 'application/json' : FORM) : chance.one(TYPES);
    return { type, text: chance.percent(15) ? chance.damaged(text) : text };
  }

  readonly #form = (): string => {
    const chance = this.#chance;
    const pairs: [string, string][] = [
      ['grant_type', chance.percent(80) ? chance.one(['password', 'refresh_token']) : chance.one(GRANTS)],
      ['client_id', chance.percent(90) ? 'gatehouse' : chance.one(['nobody', '', 'é'])],
      ['client_secret', chance.percent(90) ? 'gatehouse' : this.#canaries.secret()],
      ...this.#credentials(),
      ...chance.some<[string, string]>(chance.percent(80) ? 0 : chance.one([1, 3, 90]), () => [
        this.#name(),
        chance.one(VALUES),
      ]),
    ];
    const kept = pairs.filter(() => chance.percent(97));
    const encode = chance.percent(95) ? encodeURIComponent : String;
    const text = kept
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .join(chance.percent(95) ? '&' : chance.one(['&&', ';', '&&&=&']));
    return chance.percent(4) ? text + 'x'.repeat(chance.count(1, 30_000)) : text;
  };

  #credentials(): [string, string][] {
    const chance = this.#chance;
    const token = () =>
      chance.one([
        this.#tokens.refresh,
        this.#tokens.access,
        chance.damaged(this.#tokens.refresh),
        this.#canaries.token(),
      ]);
    return [
      ['username', chance.percent(15) ? this.#canaries.secret() : chance.one(PEOPLE)],
      ['password', chance.one([this.#canaries.secret(), this.#canaries.secret().repeat(20), '\u0000', ''])],
      ['refresh_token', token()],
      ['token', token()],
      ['scope', chance.percent(90) ? 'openid' : chance.one(['é', ' ', 'x '.repeat(500)])],
    ];
  }

  #name(): string {
    const chance = this.#chance;
    return chance.one([
      ...['username', 'client_id', 'grant_type', 'a[]', 'a[b]', 'a.b', '__proto__', 'constructor', ''],
      ...['assertion', chance.word()],
    ]);
  }

  readonly #review = (): string => {
    const chance = this.#chance;
    const token = JSON.stringify(chance.one([this.#tokens.access, this.#canaries.token(), this.#canaries.secret()]));
    const spec = chance.one([
      ...[`{"token":${token}}`, `{"token":${token},"token":"a"}`, `{"__proto__":{"token":${token}}}`],
      ...[`{"token":[${token}]}`, `{"token":${token},"audiences":["a",1]}`, '[]', 'null'],
      ...[`{"token":${token},"audiences":${nested(chance.count(1, 5_000))}}`],
    ]);
    const kind = chance.one(['TokenReview', 'TokenReview', 'tokenreview', 'Secret', '']);
    return `{"apiVersion":"${chance.one([V1, V1, `${V1}beta1`, 'v1', ''])}","kind":"${kind}","spec":${spec}}`;
  };

  readonly #json = (): string => {
    const chance = this.#chance;
    const secret = JSON.stringify(this.#canaries.secret());
    const deep = nested(chance.count(1, 20_000));
    const wide = `{${Array.from({ length: chance.count(1, 2_000) }, (_, at) => `"${at}":0`).join()}}`;
    return chance.one([
      ...['{}', '[]', 'null', '1e999', `{"password":${secret}}`, `[${secret}]`, '{"a":1} {}', '\ufeff{}'],
      ...[deep, wide, '{"a":"\\ud800"}'],
    ]);
  };
}

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
