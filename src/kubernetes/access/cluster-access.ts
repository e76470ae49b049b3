/** A file that may change while we run, or its content as configured. */
export type Source = { readonly file: string } | { readonly data: string | Buffer };

/** `client.authentication.k8s.io`: a program that provides a credential. */
export interface ExecCommand {
  readonly command: string;
  readonly [member: string]: unknown;
}

/**
 * Where the cluster is and how to prove who we are, as found in the pod or in a kubeconfig. The files that it names
 * have not been read yet.
 */
export interface ClusterAccess {
  readonly inCluster: boolean;
  /** With the path prefix, if it has one; without a slash at the end. */
  readonly server: string;
  readonly namespace: string | undefined;
  readonly ca?: Source;
  readonly certificate?: Source;
  readonly key?: Source;
  readonly token?: Source;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecCommand;
  readonly serverName?: string;
  readonly skipTlsVerify: boolean;
  /** The user that the API server is to treat us as. */
  readonly impersonation?: ImpersonationHeaders;
  /** The proxy through which the server is reached. */
  readonly proxy?: URL;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Request headers that make the API server treat us as another user: name and value. Each group is a header of its own.
 */
export type ImpersonationHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Characters of a header name (RFC 9110 5.6.2), but for `%`, which begins an escape. */
const PLAIN_KEY_BYTE = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;
const UNSENDABLE = /[\r\n\0]/;

/**
 * The headers of a kubeconfig user's `as`, `as-groups`, `as-uid` and `as-user-extra`
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation); `undefined` without
 * them. Throws an `Error` that says what cannot be used: if a setting were dropped, we would act with the rights of the
 * wrong user.
 */
export function impersonationHeaders(user: Members): ImpersonationHeaders | undefined {
  const name = text(user, 'as');
  const uid = text(user, 'as-uid');
  const groups = texts(user['as-groups'], 'as-groups');
  const extra = Object.entries(members(user['as-user-extra'], 'as-user-extra')).map(
    ([key, values]) => [`impersonate-extra-${escaped(key)}`, texts(values, 'as-user-extra')] as const,
  );
  if (name === '') {
    if (uid === '' && groups.length === 0 && extra.length === 0) return undefined;
    throw new Error('asks for as-uid, as-groups or as-user-extra without as');
  }
  return {
    'impersonate-user': name,
    ...(uid === '' ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
    ...Object.fromEntries(extra),
  };
}

function text(user: Members, setting: string): string {
  const value = user[setting] ?? '';
  if (typeof value !== 'string') throw new Error(`has an ${setting} that is no text`);
  return sendable(value, setting);
}

function texts(value: unknown, setting: string): readonly string[] {
  const all: unknown = value ?? [];
  if (!Array.isArray(all) || !all.every((one) => typeof one === 'string'))
    throw new Error(`has an ${setting} that is no list of texts`);
  return all.map((one) => sendable(one, setting));
}

function members(value: unknown, setting: string): Members {
  const all = value ?? {};
  if (typeof all !== 'object' || Array.isArray(all)) throw new Error(`has an ${setting} that is no map of lists`);
  return all as Members;
}

/** Header values are bytes, which undici takes as latin1; the API server reads them as UTF-8. */
function sendable(value: string, setting: string): string {
  if (UNSENDABLE.test(value)) throw new Error(`has an ${setting} that no header can carry`);
  return Buffer.from(value).toString('latin1');
}

/** Percent-encoded where a header name cannot hold the byte, as client-go does. */
const escaped = (key: string): string =>
  Array.from(Buffer.from(key), (byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN_KEY_BYTE.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
