import { PlainNumber, type Value } from './kubeconfig-text.ts';

/**
 * An entry whose types have been checked. `members` are read by the client library and keep their names in the file; `rest`
 * has the others. A member that is not set is empty, as in Kubernetes' own clients.
 */
export interface CheckedEntry<Rest> {
  readonly members: Readonly<Record<string, unknown>>;
  readonly rest: Rest;
}

/** The members of `clusters[].cluster` that the client library does not read. */
export interface ClusterRest {
  /** The address as it was written. */
  readonly address: string;
  readonly disableCompression: boolean;
  /** The extension that is passed to an exec plugin. */
  readonly execConfig: Value;
  /** Members that no client of Kubernetes reads. */
  readonly unknown: readonly string[];
}

/** The members of `users[].user` that the client library does not read. */
export interface UserRest {
  readonly tokenFile: string;
  readonly asUid: string;
  readonly asGroups: readonly string[];
  readonly asUserExtra: ReadonlyMap<string, readonly string[]>;
  readonly execEntry: ExecEntry | undefined;
  readonly unknown: readonly string[];
}

/** `users[].user.exec`. */
export interface ExecEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly apiVersion: string;
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: string;
}

/** `contexts[].context`. */
export interface ContextEntry {
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string;
}

/** The content of one file; its entries are keyed by name. */
export interface KubeconfigContent {
  readonly clusters: ReadonlyMap<string, CheckedEntry<ClusterRest>>;
  readonly users: ReadonlyMap<string, CheckedEntry<UserRest>>;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
  readonly currentContext: string;
}

/**
 * Checks the types of a whole file (`k8s.io/client-go/tools/clientcmd/api/v1`), also of entries that are not used. Throws an `Error`
 * that names the member and quotes no value.
 */
export function parseKubeconfig(value: Value): KubeconfigContent {
  const file = new Members(value, '');
  if (!['', 'Config'].includes(file.text('kind'))) throw new Error('it is of another kind than Config');
  if (!['', 'v1', '/v1'].includes(file.text('apiVersion'))) throw new Error('it is of another version than v1');
  const preferences = file.members('preferences');
  preferences.flag('colors');
  preferences.named('extensions', (extension) => extension.any('extension'));
  file.named('extensions', (extension) => extension.any('extension'));
  return {
    clusters: file.named('clusters', (entry) => clusterEntry(entry.members('cluster'))),
    users: file.named('users', (entry) => userEntry(entry.members('user'))),
    contexts: file.named('contexts', (entry) => contextEntry(entry.members('context'))),
    currentContext: file.text('current-context'),
  };
}

/** The name of the cluster extension that is passed to an exec plugin. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

function clusterEntry(cluster: Members): CheckedEntry<ClusterRest> {
  const extensions = cluster.named('extensions', (extension) => extension.any('extension'));
  const members = {
    server: cluster.text('server'),
    'tls-server-name': cluster.text('tls-server-name'),
    'insecure-skip-tls-verify': cluster.flag('insecure-skip-tls-verify'),
    'certificate-authority': cluster.text('certificate-authority'),
    'certificate-authority-data': cluster.base64('certificate-authority-data'),
    'proxy-url': cluster.text('proxy-url'),
  };
  const rest = {
    address: members.server,
    disableCompression: cluster.flag('disable-compression'),
    execConfig: extensions.get(EXEC_EXTENSION) ?? null,
  };
  return { members, rest: { ...rest, unknown: cluster.unread() } };
}

function userEntry(user: Members): CheckedEntry<UserRest> {
  user.named('extensions', (extension) => extension.any('extension'));
  const provider = user.optional('auth-provider');
  const exec = user.optional('exec');
  const members = {
    'client-certificate': user.text('client-certificate'),
    'client-certificate-data': user.base64('client-certificate-data'),
    'client-key': user.text('client-key'),
    'client-key-data': user.base64('client-key-data'),
    token: user.text('token'),
    username: user.text('username'),
    password: user.text('password'),
    as: user.text('as'),
    'auth-provider': provider && { name: provider.text('name'), config: provider.textsByName('config') },
  };
  const rest = {
    tokenFile: user.text('tokenFile'),
    asUid: user.text('as-uid'),
    asGroups: user.texts('as-groups'),
    asUserExtra: user.listsByName('as-user-extra'),
    execEntry: exec && execEntry(exec),
  };
  return { members, rest: { ...rest, unknown: user.unread() } };
}

const execEntry = (exec: Members): ExecEntry => ({
  command: exec.text('command'),
  args: exec.texts('args'),
  env: exec.list('env', (variable) => ({ name: variable.text('name'), value: variable.text('value') })),
  apiVersion: exec.text('apiVersion'),
  installHint: exec.text('installHint'),
  provideClusterInfo: exec.flag('provideClusterInfo'),
  interactiveMode: exec.text('interactiveMode'),
});

function contextEntry(context: Members): ContextEntry {
  context.named('extensions', (extension) => extension.any('extension'));
  return { cluster: context.text('cluster'), user: context.text('user'), namespace: context.text('namespace') };
}

/** Base64 with its padding, after line breaks have been removed, as Go decodes it. */
const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Reads the members of a map by type. `null` counts as not set. Each method throws an `Error` for a value of another type. */
class Members {
  readonly #map: ReadonlyMap<string, Value>;
  readonly #path: string;
  readonly #read = new Set<string>();

  constructor(value: Value, path: string) {
    if (value !== null && !(value instanceof Map))
      throw new Error(path === '' ? 'it holds no settings' : `its ${path} is not a map`);
    this.#map = (value ?? new Map()) as ReadonlyMap<string, Value>;
    this.#path = path;
  }

  text(name: string): string {
    return this.#text(this.any(name), name);
  }

  flag(name: string): boolean {
    const value = this.any(name) ?? false;
    if (typeof value !== 'boolean') throw this.#fault(name, 'is neither true nor false');
    return value;
  }

  base64(name: string): string {
    const value = this.text(name).replace(/[\r\n]/g, '');
    if (!BASE64.test(value)) throw this.#fault(name, 'is not base64');
    return value;
  }

  texts(name: string): readonly string[] {
    return this.#texts(this.any(name), name);
  }

  /** A map of texts. Errors do not quote its keys, which may be anything. */
  textsByName(name: string): ReadonlyMap<string, string> {
    return new Map(this.#entries(name).map(([own, value]) => [own, this.#text(value, name)]));
  }

  /** A map of lists of texts. */
  listsByName(name: string): ReadonlyMap<string, readonly string[]> {
    return new Map(this.#entries(name).map(([own, value]) => [own, this.#texts(value, name)]));
  }

  members(name: string): Members {
    return new Members(this.any(name), this.#pathOf(name));
  }

  optional(name: string): Members | undefined {
    return this.any(name) === null ? undefined : this.members(name);
  }

  list<T>(name: string, read: (item: Members) => T): readonly T[] {
    const items = this.#list(this.any(name), name);
    return items.map((item, at) => read(new Members(item, `${this.#pathOf(name)}[${at}]`)));
  }

  /** A list whose items have unique names, as a map by name. */
  named<T>(name: string, read: (item: Members) => T): ReadonlyMap<string, T> {
    const items = this.list(name, (item) => [item.text('name'), read(item)] as const);
    const map = new Map(items);
    if (map.size < items.length) throw new Error(`its ${this.#pathOf(name)} have a name twice`);
    return map;
  }

  any(name: string): Value {
    this.#read.add(name);
    return this.#map.get(name) ?? null;
  }

  /** The members that no method has read. */
  unread(): readonly string[] {
    return [...this.#map.keys()].filter((name) => !this.#read.has(name));
  }

  #entries(name: string): readonly (readonly [string, Value])[] {
    const value = this.any(name) ?? new Map<string, Value>();
    if (!(value instanceof Map)) throw this.#fault(name, 'is not a map');
    return [...(value as ReadonlyMap<string, Value>)];
  }

  #list(value: Value, name: string): readonly Value[] {
    if (value !== null && !Array.isArray(value)) throw this.#fault(name, 'is not a list');
    return (value ?? []) as readonly Value[];
  }

  #texts(value: Value, name: string): readonly string[] {
    return this.#list(value, name).map((one) => this.#text(one, name));
  }

  #text(value: Value, name: string): string {
    if (value === null) return '';
    if (typeof value === 'string') return value;
    if (value instanceof PlainNumber) throw this.#fault(name, 'is a number, not text: put it in quotes');
    throw this.#fault(name, typeof value === 'boolean' ? 'is not text: put it in quotes' : 'is not text');
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  #fault(name: string, fault: string): Error {
    return new Error(`its ${this.#pathOf(name)} ${fault}`);
  }
}
