import fc from 'fast-check';
import { type Layout, type Member, type Tree, writeYaml } from './yaml-tree.ts';

/**
 * One or several kubeconfigs: the configured file, or the files in KUBECONFIG, where `undefined` is a missing file. `fixtures.ts` has the
 * text for each `@name@`.
 */
export interface Situation {
  readonly isNamed: boolean;
  readonly files: readonly (string | undefined)[];
}

type Value = fc.Arbitrary<Tree>;

/** Usually one of the good values; an odd one in one of four times `rarity` cases. */
const mostly = (good: readonly Tree[], odd: readonly Tree[], rarity = 14): Value =>
  fc.oneof(
    { weight: 4 * rarity - 1, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  );

/** Members that are each present with their own probability, in percent. Some are written twice or in another order. */
function members(chances: Readonly<Record<string, readonly [percent: number, value: Value]>>): fc.Arbitrary<Member[]> {
  const each = Object.entries(chances).map(([name, [percent, value]]) =>
    fc
      .tuple(fc.integer({ min: 1, max: 100 }), value)
      .map(([roll, tree]): Member[] => (roll <= percent ? [[name, tree]] : [])),
  );
  return fc.tuple(fc.tuple(...each), fc.integer({ min: 0, max: 99 })).map(([parts, roll]) => {
    const all = parts.flat();
    const [first] = all;
    return first && roll === 0 ? [...all, first] : roll < 40 ? all.toReversed() : all;
  });
}

const map = (all: fc.Arbitrary<Member[]>): Value => all.map((list) => ({ map: list }));
/** Scalars that are not text in YAML 1.1, and scalars that are, although they look different. */
const NO_TEXT = ['0123', '7', '1e5', '0x1F', '0b11', '1_000', '.5', '1.', '+1', '.inf', '.NaN', 'yes', 'No', 'on', 'y'];
const STILL_TEXT = ['1:30', '2020-01-01', '0o', '1__a', 'nope', '0x', '1e', '"yes"', "'0123'", '08h', '1.2.3'];
const NULLS = ['', '~', 'null', 'Null', '""'];
const WRONG = ['[a]', '{a: b}', '!Sub x', '!!str x', '!!binary eA=='];
const text = (good: readonly string[], odd: readonly string[] = []): Value =>
  mostly(good, [...odd, ...NO_TEXT, ...STILL_TEXT, ...NULLS, ...WRONG], 20);
const flag = mostly(
  ['true', 'false'],
  ['yes', 'no', 'On', 'off', 'TRUE', 'y', 'N', '"true"', '1', '~', '', 'tRue', '[true]'],
  8,
);

const server = mostly(
  ['"https://10.0.0.1:6443"', 'https://api.example.com', 'https://api.example.com:6443/k8s/clusters/c-1'],
  [
    ...[
      '"https://api:6443/"',
      '"https://api/prefix/"',
      '"https://api/prefix?a=b"',
      '"https://api?a=b"',
      '"https://api#x"',
    ],
    ...[
      '"https://[fd00::1]:6443"',
      '"https://[FD00:0::1]"',
      '"https://API.example.com"',
      '"https://api_1.example.com."',
    ],
    ...[
      '"http://127.0.0.1:8080"',
      '"http://localhost:8080/p"',
      '"http://api.example.com"',
      '"http://[::1]"',
      '"http://10.0.0.1"',
    ],
    ...[
      'localhost:8080',
      '10.0.0.1:6443',
      'api.example.com',
      '"ftp://api"',
      '"//api"',
      '"/path"',
      '"https:api"',
      '"HTTPS://api"',
    ],
    ...[
      '"https://u:p@api"',
      '"https://u@api"',
      '"https://127.1"',
      '"https://0x7f.1"',
      '"https://api:99999"',
      '"https://api:"',
    ],
    ...[
      '"https://api/a/../b"',
      '"https://api//b"',
      '"https://api/a%2Fb"',
      '"https://api/%41"',
      '"https://a b"',
      '"https://"',
    ],
    ...[
      '"https://jürgen.example"',
      '"https://xn--jrgen-kva.example"',
      '"https://api\\\\x"',
      '" https://api"',
      '"https://api "',
    ],
    ...['7', '""', '~', '[a]', '"https://api:0443"', '"https://api/."', '"https://api:443"', '"http://api:80"'],
  ],
  3,
);

const execExtension: Value = fc.constantFrom<Tree>(
  { map: [['audience', 'a']] },
  {
    map: [
      ['list', { list: ['1', 'true', '~', '"x"', '1.5'] }],
      ['"0123"', 'no'],
    ],
  },
  { map: [['number', '0123']] },
  'text',
  '~',
);
const extensions: Value = fc
  .tuple(fc.constantFrom('client.authentication.k8s.io/exec', 'other'), execExtension, fc.integer({ min: 0, max: 19 }))
  .map(([name, extension, roll]) => {
    const entry: Tree = {
      map: [
        ['name', name],
        ['extension', extension],
      ],
    };
    return { list: roll === 0 ? [entry, entry] : [entry] };
  });

const cluster = map(
  members({
    server: [98, server],
    'certificate-authority-data': [
      40,
      mostly(
        ['@ca64@', '@bundle64@'],
        ['"%%%"', '@ca64@x', 'DATA+OMITTED', '@hello64@', '@broken64@', '@key64@', '""', '7', '@lines64@', '@ca64url@'],
        4,
      ),
    ],
    'certificate-authority': [
      15,
      mostly(['../ca.crt', '@dir@/bundle.crt'], ['missing.crt', '../junk', '../empty', '@dir@', '""', '7'], 4),
    ],
    'insecure-skip-tls-verify': [12, flag],
    'tls-server-name': [15, text(['api.internal'])],
    'proxy-url': [
      12,
      mostly(
        ['"http://proxy:3128"', '"http://u:p@proxy"'],
        [
          '"https://proxy"',
          '"socks5://proxy"',
          'proxy:3128',
          '"http://"',
          '"http://u:1%@p"',
          '""',
          '"http://proxy/path"',
          '"ftp://p"',
          '"http://p:99999"',
          '"http://[fd00::1]:1"',
        ],
        3,
      ),
    ],
    'disable-compression': [10, flag],
    extensions: [15, extensions],
    'api-version': [4, fc.constant('v1')],
  }),
);

const exec = map(
  members({
    apiVersion: [
      97,
      mostly(
        ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'],
        ['client.authentication.k8s.io/v1alpha1', 'v1', '""', '7'],
        12,
      ),
    ],
    command: [
      97,
      mostly(
        ['../plugin', '@dir@/plugin', 'plugin', './../plugin'],
        ['../missing', 'no-such', '""', '../junk', '@dir@', '7', '../sub/../plugin'],
        8,
      ),
    ],
    args: [
      100,
      fc
        .tuple(
          mostly(
            ['told'],
            [
              'cert',
              'half',
              'empty',
              'nostatus',
              'bare',
              'expired',
              'later',
              'badtime',
              'twolines',
              'number',
              'kind',
              'yaml',
              'more',
              'nulls',
              'list',
              'fail',
              'broken',
              'both',
            ],
            3,
          ),
          fc.constantFrom('v1', 'v1', 'v1beta1'),
        )
        .map(([mode, version]) => ({ list: [mode, version] })),
    ],
    env: [
      25,
      fc.constantFrom<Tree>(
        {
          list: [
            {
              map: [
                ['name', 'A'],
                ['value', 'own'],
              ],
            },
          ],
        },
        { list: [{ map: [['value', 'x']] }] },
        '[]',
        '~',
        '{a: b}',
        { list: [{ map: [['name', 'A']] }] },
      ),
    ],
    interactiveMode: [80, mostly(['Never', 'IfAvailable'], ['Always', 'never', '""', '7'], 8)],
    provideClusterInfo: [50, flag],
    installHint: [5, text(['"install it"'])],
  }),
);

const user = map(
  fc
    .oneof(
      {
        weight: 6,
        arbitrary: members({
          token: [
            95,
            text(
              ['abc', '"a.b.c"', 'ey_-'],
              [
                'REDACTED',
                '"a\\nb"',
                '"jürgen"',
                '" a "',
                '"a\\tb"',
                '0x00112233445566778899aabbccddeeff00',
                '12345678901234567890123',
              ],
            ),
          ],
        }),
      },
      {
        weight: 4,
        arbitrary: members({
          tokenFile: [
            98,
            text(['../token', '@dir@/token'], ['../missing', '../empty', '../blank', '../junk', '../control']),
          ],
        }),
      },
      {
        weight: 4,
        arbitrary: members({
          'client-certificate-data': [
            96,
            mostly(['@cert64@'], ['@hello64@', '@chain64@', '"%"', '@broken64@', '""'], 6),
          ],
          'client-key-data': [
            94,
            mostly(['@key64@'], ['@other64@', '@hello64@', '@sec164@', '@encrypted64@', '""'], 6),
          ],
        }),
      },
      {
        weight: 2,
        arbitrary: members({
          'client-certificate': [96, mostly(['../client.crt'], ['../junk', '../missing', '@dir@/client.crt'], 5)],
          'client-key': [94, mostly(['../client.key'], ['../other.key', '../junk', '../missing'], 5)],
        }),
      },
      { weight: 2, arbitrary: members({ username: [94, text(['u', '"ü:x"'])], password: [94, text(['p', '"pä"'])] }) },
      {
        weight: 5,
        arbitrary: members({
          exec: [
            98,
            fc.oneof(
              { weight: 19, arbitrary: exec },
              { weight: 1, arbitrary: fc.constantFrom<Tree>('~', '{}', 'text') },
            ),
          ],
        }),
      },
      { weight: 1, arbitrary: fc.constant<Member[]>([]) },
    )
    .chain((own) =>
      members({
        token: [4, text(['beside'])],
        tokenFile: [4, text(['../token'], ['../missing'])],
        username: [2, text(['u'])],
        password: [2, text(['p'])],
        'client-certificate-data': [2, fc.constant('@cert64@')],
        'client-key-data': [2, fc.constant('@key64@')],
        'client-certificate': [2, fc.constant('../client.crt')],
        'client-key': [2, fc.constant('../client.key')],
        exec: [5, exec],
        as: [25, text(['jane', '"jürgen"'], ['"a\\nb"', '" "'])],
        'as-uid': [5, text(['"7"'])],
        'as-groups': [6, mostly(['[dev, ops]', '[]', '~', '["a b"]'], ['dev', '[7]', '[~]'], 6)],
        'as-user-extra': [
          6,
          fc.constantFrom<Tree>(
            '{scopes: [a, b]}',
            '{"a/b%": [c]}',
            '{}',
            '{a: []}',
            '{a: b}',
            '[a]',
            '{1: [x]}',
            '{A: [x], b: ["ü"]}',
          ),
        ],
        'auth-provider': [
          2,
          fc.constantFrom<Tree>('{name: oidc}', '~', '{name: x, config: {a: b}}', '{name: x, config: {a: 7}}'),
        ],
        'token-file': [2, fc.constant('../token')],
        Token: [1, fc.constant('abc')],
        extensions: [3, extensions],
      }).map((more) => {
        const names = new Set(own.map(([name]) => name));
        return [...own, ...more.filter(([name]) => !names.has(name))];
      }),
    ),
);

const context = map(
  members({
    cluster: [99, mostly(['a'], ['b', 'nowhere', '""', '7'], 20)],
    user: [96, mostly(['a'], ['b', 'nowhere', '""', '~'], 15)],
    namespace: [30, text(['apps', '"7"'], ['a/b', '"A"'])],
    extensions: [3, extensions],
  }),
);

/** The entries of a list: `a`, often `b`, and rarely something that is not an entry, or `a` twice. */
const entries = (kind: string, entry: Value): Value =>
  fc.tuple(entry, fc.option(entry, { freq: 3 }), fc.integer({ min: 0, max: 499 })).map(([a, b, roll]): Tree => {
    const first: Tree = {
      map: [
        ['name', 'a'],
        [kind, a],
      ],
    };
    const second: Tree[] =
      b === null
        ? []
        : [
            {
              map: [
                ['name', 'b'],
                [kind, b],
              ],
            },
          ];
    if (roll === 0) return { list: [first, first] };
    if (roll === 1) return { list: [{ map: [[kind, a]] }, first] };
    if (roll === 2) return { list: ['~', first] };
    if (roll === 3) return { list: [{ map: [['name', 'b']] }, first] };
    if (roll === 4) return { map: [['a', a]] };
    if (roll === 5) return { list: ['text', first] };
    return { list: [first, ...second] };
  });

const content = members({
  apiVersion: [70, mostly(['v1'], ['v2', '~', '""', '7', '/v1'], 40)],
  kind: [70, mostly(['Config'], ['config', 'Pod', '""', '7'], 40)],
  preferences: [40, mostly(['{}', '{colors: true}'], ['~', '{colors: 7}', '[]'], 40)],
  clusters: [98, entries('cluster', cluster)],
  users: [98, entries('user', user)],
  contexts: [99, entries('context', context)],
  'current-context': [97, mostly(['a'], ['b', 'nowhere', '""', '~', '7', 'yes'], 20)],
  extensions: [5, extensions],
  unknown: [5, fc.constant('{a: 1}')],
});

const layout = fc.constantFrom<Layout>('block', 'block', 'flow', 'crlf');
const file = fc
  .tuple(content, layout, fc.integer({ min: 0, max: 199 }))
  .map(([tree, laidOut, roll]) => disturbed(writeYaml({ map: tree }, laidOut), roll));

/** Gives a few of two hundred texts an unusual form. */
function disturbed(yaml: string, roll: number): string {
  if (roll === 0) return `\uFEFF${yaml}`;
  if (roll === 1) return `---\n${yaml}`;
  if (roll === 2) return `${yaml}---\nkind: Pod\n`;
  if (roll === 3) return `${yaml}# \uFFFD\n`;
  if (roll === 4) return yaml.replace(/users:/, 'x: &x {token: merged}\nusers:').replace(/token: \S+$/m, '<<: *x');
  if (roll === 5) return yaml.slice(0, Math.floor(yaml.length / 2));
  if (roll === 6) return yaml.replace(/: /, ':\t');
  return yaml;
}

/** Files without entries. */
const bare = fc.constantFrom(
  undefined,
  '',
  '# nothing\n',
  '---\n',
  '{}\n',
  'text\n',
  '[]\n',
  'current-context: a\n',
  'users: []\n',
);
/** A file that has some of the entries, before or after another. */
const part = fc
  .subarray(['clusters', 'users', 'contexts', 'current-context'], { minLength: 1, maxLength: 3 })
  .chain((names) => content.map((tree) => writeYaml({ map: tree.filter(([name]) => names.includes(name)) }, 'block')));

const anySituation: fc.Arbitrary<Situation> = fc.oneof(
  { weight: 24, arbitrary: file.map((one) => ({ isNamed: true, files: [one] })) },
  { weight: 1, arbitrary: bare.map((one) => ({ isNamed: true, files: [one] })) },
  {
    weight: 8,
    arbitrary: fc
      .array(fc.oneof({ weight: 3, arbitrary: file }, { weight: 2, arbitrary: part }, { weight: 2, arbitrary: bare }), {
        minLength: 1,
        maxLength: 4,
        size: 'max',
      })
      .map((files) => ({ isNamed: false, files })),
  },
);

/**
 * Kubeconfigs with every member, usually as people write them, and rarely with mistakes. Without fast-check's bias for small numbers,
 * which would leave out most of the members.
 */
export const situation = fc.noBias(anySituation);
