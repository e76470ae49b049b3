import fc from 'fast-check';
import { expect, test } from 'vitest';
import { environmentProxy } from '../../src/runtime/text/proxy-variables.ts';
import { askOracle } from '../support/oracles/ask-oracle.ts';
import { SEED } from '../support/seed.ts';

const SITUATIONS = 20_000;

interface Situation {
  readonly environment: Readonly<Record<string, string>>;
  readonly server: string;
}

const PROXIES = [
  ...[
    'http://proxy:3128',
    'http://proxy',
    'proxy:3128',
    'proxy',
    '10.0.0.9:3128',
    '[fd00::9]:3128',
    'http://u:p@proxy:1',
  ],
  ...[
    'http://[fd00::9]:3128',
    'u:p@proxy:3128',
    'HTTP://proxy',
    'http://proxy/path',
    'http://proxy:80',
    'http://PROXY',
  ],
  ...[
    'https://proxy',
    'socks5://proxy:1080',
    'socks5h://proxy',
    'ftp://proxy',
    'http://',
    'http:proxy',
    '//proxy',
    ' ',
  ],
  ...['http://proxy:port', 'http://pro xy', 'http://proxy:99999', 'http://u:%zz@proxy', '', ''],
];
const NAMES = [
  'example.com',
  'api.example.com',
  'b.api.example.com',
  'example.org',
  'localhost',
  'my.localhost',
  'xample.com',
];
const INTERNATIONAL = [
  'bücher.example',
  'api.bücher.example',
  'BÜCHER.example',
  'straße.example',
  'xn--bcher-kva.example',
];
const ADDRESSES = ['10.0.0.1', '10.1.2.3', '192.168.0.1', '127.0.0.1', '127.9.9.9', '0.0.0.0', '8.8.8.8'];
const ADDRESSES_6 = [
  'fd00::1',
  'fd00:0:0::1',
  'FD00::1',
  '::1',
  '::',
  '::ffff:10.0.0.1',
  '::ffff:127.0.0.1',
  'fe80::1',
];
const PORTS = ['', ':443', ':80', ':6443', ':8443'];

const from = (values: readonly string[]) => fc.constantFrom(...values);
const hosts = from([...NAMES, ...NAMES, ...INTERNATIONAL, ...ADDRESSES, ...ADDRESSES_6.map((one) => `[${one}]`)]);
const server = fc
  .tuple(fc.constantFrom('https', 'https', 'http'), hosts, from(PORTS), from(['', '/', '/a/b']))
  .map(([scheme, host, port, path]) => `${scheme}://${host}${port}${path}`);

/** What NO_PROXY may name, in every spelling, and what only looks like it. */
const entry = fc.oneof(
  fc
    .tuple(
      from(['', '.', '*.', '*', '..', '*.*.']),
      from([...NAMES, ...INTERNATIONAL]),
      from([...PORTS, ':', ':https', ':0443', ':443:1']),
    )
    .map((parts) => parts.join('')),
  fc
    .tuple(from(ADDRESSES), from([...PORTS, ':', '/8', '/32', '/0', '/33', '/', '/08', '/8/8', '/-1', '/x']))
    .map((parts) => parts.join('')),
  fc
    .tuple(from(ADDRESSES_6), from(['', '/8', '/64', '/128', '/129', '/96', '/104', '/120', '%eth0', ':443']))
    .map((parts) => parts.join('')),
  fc
    .tuple(from(ADDRESSES_6), from([...PORTS, ':', '/8', 'x', ':443]']))
    .map(([address, rest]) => `[${address}]${rest}`),
  from([
    '*',
    '',
    ' ',
    '.',
    '*.',
    ':443',
    ':',
    '[',
    ']',
    '[]',
    '[]:443',
    '[example.com]:443',
    '010.0.0.1',
    '10.0.0',
    '10',
    'a[b]:443',
    'com',
    '.com',
    'COM',
    ' example.com ',
    '\texample.com',
    'example.com.',
  ]),
);
const list = fc
  .tuple(fc.array(entry, { maxLength: 4, size: 'max' }), from([',', ', ', ' , ', ',,', ' ', ';']))
  .map(([entries, between]) => entries.join(between));

/** A variable in capitals or not, or in both. */
const variable = (name: string, values: fc.Arbitrary<string>) =>
  fc.record({ [name]: values, [name.toLowerCase()]: values }, { requiredKeys: [] });

const situation: fc.Arbitrary<Situation> = fc
  .tuple(
    variable('HTTPS_PROXY', from(PROXIES)),
    variable('HTTP_PROXY', from(PROXIES)),
    variable('NO_PROXY', list),
    fc.record({ ALL_PROXY: from(PROXIES), REQUEST_METHOD: from(['', 'GET']) }, { requiredKeys: [] }),
    server,
  )
  .map(([https, http, no, others, to]) => ({
    environment: { ...https, ...http, ...no, ...others } as Record<string, string>,
    server: to,
  }));

/** What Go does and we refuse, by our sentence. */
const REFUSED_BY_US: readonly (readonly [sentence: RegExp, reason: string])[] = [
  [
    /^names a proxy with (https|socks5|socks5h|ftp):/,
    'we speak to proxies by http alone; Go fails for what it does not know',
  ],
  [/^has no valid proxy address in/, 'Go drops what it cannot read without a word, or fails at the first request'],
  [/^has HTTP_PROXY and REQUEST_METHOD/, 'Go refuses it at the first request'],
];

function ours({ environment, server: to }: Situation): string {
  try {
    return environmentProxy(environment, new URL(to))?.href ?? '';
  } catch (error) {
    const { message } = error as Error;
    return String(REFUSED_BY_US.find(([sentence]) => sentence.test(message))?.[0] ?? `unknown refusal: ${message}`);
  }
}

/** `equal`, the deliberate difference, or `different`. */
function verdict(own: string, theirs: string): string {
  const canonical = URL.canParse(theirs) ? new URL(theirs).href : theirs;
  const isGood = /^http:\/\/[^/]+(\/path)?$/.test(theirs) && URL.canParse(theirs);
  if (own.startsWith('/')) return isGood ? 'different' : own;
  return own === canonical ? `equal: ${own === '' ? 'none' : 'a proxy'}` : 'different';
}

test(`KC-07 ${SITUATIONS} environments mean what they mean to Go, or are refused (seed ${SEED})`, async () => {
  const situations = fc.sample(fc.noBias(situation), { numRuns: SITUATIONS, seed: SEED });
  const theirs = await askOracle<string>('proxyVariables', situations);
  const all = situations.map((one, at) => {
    const own = ours(one);
    return { ...one, own, theirs: theirs[at], verdict: verdict(own, theirs[at] ?? '') };
  });
  const counts = Object.groupBy(all, (one) => one.verdict);
  console.log(Object.fromEntries(Object.entries(counts).map(([name, some = []]) => [name, some.length])));
  expect(counts['different']?.slice(0, 20) ?? []).toEqual([]);
  expect(REFUSED_BY_US.filter(([sentence]) => !counts[String(sentence)])).toEqual([]);
  expect(Math.min(counts['equal: none']?.length ?? 0, counts['equal: a proxy']?.length ?? 0)).toBeGreaterThan(
    SITUATIONS / 10,
  );
});
