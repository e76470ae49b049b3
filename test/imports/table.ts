/**
 * Who may import whom. A name is a file, or a folder with all that is below it; `*` in it stands for any one name.
 * The most exact row that covers a file is the only one that counts for it.
 */
export interface ImportTable {
  /** What every file may import. These import one another, nothing else of ours and no library. */
  readonly base: readonly string[];
  /** What else of ours a folder or a file may import, besides what is under its own row. */
  readonly ours: Readonly<Record<string, readonly string[]>>;
  /** Where a library may be imported; with `type` before it, only its types, by `import type`. `*` is any library. */
  readonly libraries: Readonly<Record<string, readonly string[]>>;
  /** The folders whose sub-folders must not import one another in a circle. */
  readonly oneWay: readonly string[];
  /** Where types count for circles of files too, and files, functions and folders may only be so large (`sizes.ts`). */
  readonly strict: readonly string[];
  /** What is not so yet: each of these is to be split. */
  readonly unsplit: readonly string[];
}

const SIGN_IN = ['src/users/user.ts', 'src/users/sign-in.ts', 'src/users/first-passwords.ts'];
const LOGGER = 'src/observability/logger.ts';

export const TABLE: ImportTable = {
  base: ['src/runtime', 'src/data-age.ts', 'src/secret-store.ts', 'src/security-events.ts', 'src/status-error.ts'],
  ours: {
    // These put the parts together; no other folder may import them.
    'src/main.ts': ['src'],
    'src/client.ts': ['src/cli'],
    'src/cli': ['src'],
    'src/service': ['src'],
    'src/config': [],
    'src/observability': [],
    'src/kubernetes': [LOGGER],
    'src/resources': ['src/kubernetes'],
    // A kind, as it describes itself to the list engine.
    'src/nodes': ['src/resources', 'src/kubernetes'],
    'src/namespaces': ['src/resources', 'src/kubernetes'],
    // Any kind of the cluster.
    'src/kinds': [
      'src/resources',
      'src/kubernetes',
      'src/authorization/authorizer.ts',
      'src/authorization/permitted-scope.ts',
      LOGGER,
    ],
    // Workspaces, and who is a member of what.
    'src/tenant': ['src/resources', 'src/kinds', 'src/kubernetes/object.ts'],
    'src/users': ['src/observability'],
    'src/accounts': [
      'src/resources',
      'src/kubernetes',
      'src/users',
      'src/authorization/authorizer.ts',
      'src/observability',
    ],
    'src/oauth': [...SIGN_IN, LOGGER],
    // The way from an authorization request to a code gets no store that can write (B-20).
    'src/oauth/authorize': [
      ...SIGN_IN,
      'src/oauth/endpoints',
      'src/oauth/keys',
      'src/oauth/oauth-error.ts',
      'src/oauth/options.ts',
      'src/oauth/sessions/session-id.ts',
      'src/oauth/sessions/session-reads.ts',
      'src/oauth/sessions/session-rules.ts',
      'src/oauth/sessions/session-start.ts',
      'src/oauth/token-data.ts',
      'src/oauth/tokens',
    ],
    'src/oauth/authorize/browser-endpoints.ts': ['src/oauth', ...SIGN_IN],
    'src/oauth/authorize/end-session.ts': ['src/oauth'],
    'src/oauth/authorize/new-password-form.ts': ['src/oauth', ...SIGN_IN],
    'src/authentication': ['src/oauth', 'src/observability'],
    'src/authorization': ['src/kubernetes', 'src/observability'],
    // What lies beside the cluster and is asked over HTTP: the log store, and Prometheus.
    'src/stores': [LOGGER],
    'src/documents': [
      'src/stores',
      'src/authorization/authorizer.ts',
      'src/authorization/namespace-reviews.ts',
      LOGGER,
    ],
    // Series of Prometheus by the names of KubeSphere 3.4.
    'src/monitoring': ['src/stores', LOGGER],
    // Calls that go on to the cluster: whose they are, and what of them is passed on.
    'src/gateway': [
      'src/kubernetes',
      'src/users/user.ts',
      'src/authorization/authorizer.ts',
      'src/authorization/permitted-namespaces.ts',
      'src/authorization/permitted-scope.ts',
    ],
    'src/http': [
      'src/oauth',
      'src/users',
      'src/accounts',
      'src/authorization',
      'src/resources',
      'src/gateway',
      'src/kinds',
      'src/tenant',
      'src/kubernetes/discovery/cluster-kind.ts',
      'src/documents',
      'src/monitoring',
      'src/observability',
    ],
    dev: ['src'],
    bench: ['src', 'dev', 'test'],
    test: ['src', 'dev', 'bench'],
    // The page runs in a browser: what it shows comes over the API.
    web: [],
    // The page and the server derive some words of the same objects.
    'test/unit/web': ['web', 'src/kinds/words', 'test/support'],
    // The page's commands for administrators are run in a cluster.
    'test/cluster/page-commands.test.ts': ['web/parts/denied.ts', 'test'],
  },
  libraries: {
    express: ['src/http'],
    jose: ['src/oauth'],
    '@kubernetes/client-node': ['src/kubernetes'],
    undici: ['src/kubernetes', 'src/stores', 'bench/peers'],
    'type undici': ['src/runtime/send-request.ts'],
    zod: ['src/config', 'src/users', 'src/accounts', 'dev/crd'],
    // Where a file of its own kind is read; the composition root hands the parser of the API description to src/http.
    yaml: [
      'src/config',
      'src/cli/import-config',
      'src/kubernetes',
      'src/users',
      'src/service',
      'dev/chart-docs',
      'dev/cluster',
      'dev/crd',
      'dev/monitoring',
      'dev/release',
    ],
    '@grafana/grafana-foundation-sdk': ['dev/monitoring'],
    pino: ['src/observability'],
    rolldown: ['dev/build'],
    '@cyclonedx/cyclonedx-library': ['dev/build'],
    '@node-rs/bcrypt': ['src/users'],
    'oidc-provider': ['bench/peers'],
    'type puppeteer-core': ['bench/page'],
    // A folder makes its metrics in one file. What they are made in is handed on, as a type.
    'prom-client': ['src/observability', 'src/*/metrics.ts'],
    'type prom-client': [
      'src/accounts',
      'src/authentication',
      'src/authorization',
      'src/gateway',
      'src/http',
      'src/kinds',
      'src/kubernetes',
      'src/documents',
      'src/monitoring',
      'src/oauth',
      'src/users',
      'src/service',
    ],
    preact: ['web'],
    '@preact/signals': ['web'],
    '*': ['test'],
  },
  oneWay: ['src', 'src/accounts', 'src/http', 'src/kubernetes', 'src/documents', 'src/oauth', 'src/resources', 'dev'],
  strict: ['src'],
  unsplit: [],
};
