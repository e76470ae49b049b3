import type { Canaries } from './canaries.ts';
import type { Chance } from './chance.ts';

const SELECTORS = [
  ...[
    'tier=old',
    'tier in (a,b)',
    'tier notin (',
    '!tier',
    'a=b,a!=b',
    '=',
    ',,,',
    '((((',
    'a in (a in (a))',
    'a==b==c',
  ],
  ...[
    'metadata.name=node-a',
    'metadata.name!=',
    'status.phase=x',
    'spec.nodeName',
    '__proto__=x',
    'a/b/c=d',
    '\u0000',
    '!',
  ],
];
const NUMBERS = [
  ...[
    '0',
    '-1',
    '1',
    '10',
    '+1',
    '1e9',
    '0x10',
    '1.5',
    '9007199254740993',
    '-9223372036854775809',
    'NaN',
    'Infinity',
    '٣',
  ],
  ...['', ' ', 'null', '1,2', '1_0', '99999999999999999999999999999', 'page=1', 'limit=10,page=1'],
];
const WORDS = [
  'name',
  'creationTimestamp',
  'true',
  'false',
  'T',
  'yes',
  '1',
  'ture',
  'Exact',
  'NotOlderThan',
  'e1-1',
  'ok',
];
const BY_SELECTOR = ['labelSelector', 'fieldSelector', 'name'];
const BY_NUMBER = ['limit', 'page', 'timeoutSeconds', 'resourceVersion', 'timeout'];
const BY_WORD = [
  ...[
    'sortBy',
    'ascending',
    'watch',
    'continue',
    'allowWatchBookmarks',
    'sendInitialEvents',
    'resourceVersionMatch',
    'verbose',
  ],
  ...['exclude', 'all', 'state', 'status', 'post_logout_redirect_uri', 'client_id', 'pretty'],
];
const STRANGE = ['__proto__', 'constructor', 'a[]', 'a[b]', 'a.b', '', 'access_token', 'x'.repeat(2_000), '%00', '漢'];

/** Queries: parameters that there are with values that do not fit, parameters that there are not, too many, too long. */
export class Queries {
  readonly #chance: Chance;
  readonly #canaries: Canaries;

  constructor(chance: Chance, canaries: Canaries) {
    this.#chance = chance;
    this.#canaries = canaries;
  }

  any(): string {
    const chance = this.#chance;
    const more = chance.percent(60) ? 0 : chance.one([1, 2, 4, 4, 300]);
    const pairs = [this.#pair(), ...chance.some(more, this.#pair)];
    return pairs.join(chance.percent(95) ? '&' : chance.one(['&&', ';', '%26']));
  }

  readonly #pair = (): string => {
    const chance = this.#chance;
    const [name, value] = chance.made<[string, string]>(
      () => [chance.one(BY_SELECTOR), this.#selector()],
      () => [chance.one(BY_SELECTOR), this.#selector()],
      () => [chance.one(BY_NUMBER), chance.one(NUMBERS)],
      () => [chance.one(BY_WORD), chance.one(WORDS)],
      () => [chance.one(chance.one([BY_SELECTOR, BY_NUMBER, BY_WORD, STRANGE])), this.#anything()],
    );
    const equals = chance.percent(96) ? '=' : chance.one(['==', '', '%3D']);
    const isEncoded = chance.percent(85);
    return `${name}${equals}${isEncoded ? encodeURIComponent(value) : value.replaceAll(/[^!-~]/g, chance.one(['%00', '%ff', '+', '%c0%80']))}`;
  };

  #selector(): string {
    const chance = this.#chance;
    const one = () => chance.one(SELECTORS);
    return chance.made(
      one,
      () => chance.damaged(one()),
      () => [one(), ...chance.some(chance.percent(10) ? 200 : 4, one)].join(),
    );
  }

  #anything(): string {
    const chance = this.#chance;
    return chance.made(
      () => chance.one([...NUMBERS, ...SELECTORS, ...WORDS]),
      () => this.#canaries.secret(),
      () => chance.word(40),
      () => 'x'.repeat(chance.count(1, 4_000)),
    );
  }
}
