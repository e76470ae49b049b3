import type { Situation } from './situations.ts';

/** A valid file, with this change. */
function file(change: {
  readonly server?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly rest?: string;
}) {
  const { server = '"https://10.0.0.1:6443"', cluster = '', user = 'token: abc', rest = '' } = change;
  return `apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: ${server}${cluster === '' ? '' : `, ${cluster}`}}}]
users: [{name: a, user: {${user}}}]
${rest}`;
}

const users = (text: string): string => file({}).replace(/users:.*/, text);
const EXEC = 'apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: plugin';

/** Texts that no generator would make, and one for each deliberate difference. */
const TEXTS: readonly string[] = [
  file({}),
  // Deliberate differences.
  file({ server: '"http://api.example.com"' }),
  file({ server: '"http://127.0.0.1:8080"' }),
  file({ server: '"http://127.0.0.1"', user: 'client-certificate-data: @cert64@, client-key-data: @key64@' }),
  file({ server: '"http://api"', user: '', cluster: 'certificate-authority-data: @hello64@' }),
  file({}).replace('user: a}', 'user: nobody}'),
  file({ user: 'password: p' }),
  file({ user: 'client-key-data: @key64@' }),
  file({ user: 'token-file: ../token' }),
  file({ user: 'token: REDACTED' }),
  file({ user: 'token: " a "' }),
  file({ user: 'token: 0x00112233445566778899aabbccddeeff00' }),
  file({ server: 'http://127.0.0.1', user: 'username: u, password: p, tokenFile: ../token' }),
  file({ server: 'localhost:8080' }),
  file({ server: '"ftp://api"' }),
  file({ server: '"https://u:p@api"' }),
  file({ server: '"https://127.1"' }),
  file({ cluster: 'proxy-url: "https://proxy"' }),
  file({ cluster: 'proxy-url: "http://u:1%41%zz@p"' }),
  file({ cluster: 'proxy-url: "http://"' }),
  file({}).replace('user: a}', 'user: a, namespace: a/b}'),
  file({}).replace('user: a}', 'user: ""}').replace('{name: a, user:', '{user:'),
  file({}).replace('cluster: a,', '').replace('{name: a, cluster:', '{cluster:'),
  file({}).replace('current-context: a', '').replace('{name: a, context:', '{context:'),
  file({ user: 'token: a, token: b' }),
  `${file({})}---\nkind: Pod\n`,
  file({ user: 'token: !Sub abc' }),
  file({ user: 'token: abc, as: b, as-user-extra: {01: [a]}' }),
  file({
    cluster: 'extensions: [{name: client.authentication.k8s.io/exec, extension: {a: 0123}}]',
    user: `exec: {${EXEC}, args: [told], provideClusterInfo: true}`,
  }),
  file({ user: `exec: {${EXEC}, args: [yaml]}` }),
  file({ cluster: 'certificate-authority: ../empty' }),
  file({ user: 'tokenFile: ../empty' }),
  file({ cluster: 'extensions: [{name: x, extension: ~}, {name: x, extension: ~}]' }),
  file({
    cluster: 'certificate-authority-data: @bundle64@',
    user: `exec: {${EXEC}, args: [told], provideClusterInfo: true}`,
  }),
  file({}).replace('apiVersion: v1', 'apiVersion: /v1'),
  // Merge keys, anchors and aliases.
  users('x: &x {token: merged}\nusers: [{name: a, user: {<<: *x}}]'),
  users('x: &x {token: merged}\nusers: [{name: a, user: {<<: *x, token: own}}]'),
  users('x: &x {token: merged}\nusers: [{name: a, user: {token: own, <<: *x}}]'),
  users('x: [&x {token: x, as: jane}, &y {token: y, as-uid: "7"}]\nusers: [{name: a, user: {<<: [*x, *y]}}]'),
  users('x: &x {token: merged}\ny: &y {<<: *x, as: jane}\nusers: [{name: a, user: {<<: *y}}]'),
  users('users: [{name: a, user: {<<: text}}]'),
  users('users: [{name: a, user: {<<: [text]}}]'),
  users('users: [{name: a, user: {<<: ~}}]'),
  users('users: [{name: a, user: {"<<": {token: b}, token: c}}]'),
  users('users: [{name: a, user: {!!merge <<: {token: b}}}]'),
  users('users: [{name: a, user: {token: &t abc, as: *t}}]'),
  users('x: &x one\ny: &x two\nusers: [{name: a, user: {token: *x}}]'),
  users('users: &u [{name: a, user: *u}]'),
  users('users: [{name: a, user: *nowhere}]'),
  users('? users\n: [{name: a, user: {token: abc}}]'),
  users('users: [{name: a, user: {? token : abc}}]'),
  users('users: [{name: a, user: {[token]: abc}}]'),
  users('users: [{name: a, user: {~: abc}}]'),
  // Scalars with several lines.
  users('users:\n- name: a\n  user:\n    token: |\n      abc\n'),
  users('users:\n- name: a\n  user:\n    token: |-\n      abc\n'),
  users('users:\n- name: a\n  user:\n    token: >-\n      abc\n      def\n'),
  users('users:\n- name: a\n  user:\n    token: abc\n      def\n'),
  users('users:\n- name: a\n  user:\n    token: "abc\\\n      def"\n'),
  users("users:\n- name: a\n  user:\n    token: 'it''s'\n"),
  users('users:\n- name: a\n  user:\n    token: "\\u0061\\x62c"\n'),
  users('users:\n- name: a\n  user:\n    token: abc # comment\n'),
  users('users:\n- name: a\n  user:\n    token: abc#no-comment\n'),
  users('users:\n- name: a\n  user: # comment\n    token: a:b\n'),
  users('users:\n- name: a\n  user:\n\ttoken: abc\n'),
  users('users:\n- name: a\n  user:\n    token: @abc\n'),
  users('users:\n- name: a\n  user:\n    token: `abc`\n'),
  users('users:\n- name: a\n  user:\n    token: %abc\n'),
  users('users:\n- name: a\n  user:\n    token: - abc\n'),
  users('users:\n- name: a\n  user:\n    token: a: b\n'),
  users('users: [{name: a, user: {token: abc,},},]'),
  users('users: [{name: a, user: {"token":abc}}]'),
  users('users: [{name: a, user: {token:abc}}]'),
  users('users: [{name: a, user: {token}}]'),
  users('users: [name: a, user: {token: abc}]'),
  users('users:\n  - name: a\n    user: {token: abc}\n   - name: b\n'),
  users('users:\n- name: a\n  user:\n    token: abc\n   username: x\n'),
  // Directives, documents and marks.
  `%YAML 1.1\n---\n${file({})}`,
  `%YAML 1.2\n---\n${file({ user: 'token: yes' })}`,
  `%TAG ! tag:example.com,2000:\n---\n${file({})}`,
  `%UNKNOWN x\n---\n${file({})}`,
  `${file({})}...\n`,
  `${file({})}...\ntrailing: {`,
  `---\n---\n${file({})}`,
  `--- # comment\n${file({})}`,
  `\uFEFF---\n${file({})}`,
  file({}).replaceAll('\n', '\r'),
  file({ rest: 'x: "\u2028"\n' }),
  file({ rest: 'x: \u0085\n' }),
  file({ rest: 'x: \u0000\n' }),
  file({ rest: 'x: \u007F\n' }),
  file({ rest: 'x: "\u0001"\n' }),
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server: 'https://10.0.0.1', 'certificate-authority-data': '@ca64@' } }],
    users: [{ name: 'a', user: { token: 'a\u2028b"\\/' } }],
  }),
];

const named: readonly Situation[] = TEXTS.map((text) => ({ isNamed: true, files: [text] }));

/** Lists of files that each have a part of the kubeconfig. */
const listed: readonly Situation[] = [
  [undefined, '', file({})],
  [undefined, undefined],
  ['current-context: a\n', file({}).replace('current-context: a', 'current-context: b')],
  ['users: [{name: a, user: {as: jane}}]\n', file({})],
  ['users: [{name: a, user: {tokenFile: ../token}}]\n', file({ user: 'as: jane' })],
  [file({}), 'users: [{name: a, user: {token: 7}}]\n'],
  [file({}), 'users: {'],
].map((files) => ({ isNamed: false, files }));

export const EXAMPLES: readonly Situation[] = [...named, ...listed];
