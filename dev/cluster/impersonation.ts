import { forbidden } from './authorize.ts';
import type { Identity } from './identity.ts';
import type { ObjectStore } from './object-store.ts';
import { decide, type ResourceAttributes } from './rbac.ts';
import type { ApiRequest } from './request.ts';
import { TextError } from './status.ts';

/** The user that a caller wants to impersonate, from the headers `Impersonate-User`, `-Group`, `-Uid` and `-Extra-…` of its request. */
export interface Impersonation {
  readonly user: string | undefined;
  readonly groups: readonly string[];
  readonly uid: string | undefined;
  readonly extra: NonNullable<Identity['extra']>;
}

type Headers = Readonly<Record<string, readonly string[] | undefined>>;

/** Reads the impersonation headers. `headers` has a list of values for each header. */
export function impersonationIn(headers: Headers): Impersonation | undefined {
  const user = utf8(headers['impersonate-user']?.[0] ?? '') || undefined;
  const groups = (headers['impersonate-group'] ?? []).map(utf8);
  const uid = headers['impersonate-uid']?.[0] || undefined;
  const extra = extraIn(headers);
  const isWanted = (user ?? uid) !== undefined || groups.length > 0 || Object.keys(extra).length > 0;
  return isWanted ? { user, groups, uid, extra } : undefined;
}

/** Node.js decodes header values as Latin-1; the API server reads the same octets as UTF-8. */
const utf8 = (value: string): string => Buffer.from(value, 'latin1').toString();

const EXTRA = 'impersonate-extra-';

/** In the name of an extra, characters that a header name cannot have are percent-encoded. */
function extraIn(headers: Headers): Impersonation['extra'] {
  const named = Object.entries(headers).filter(([name]) => name.startsWith(EXTRA));
  return Object.fromEntries(
    named.map(([name, values = []]) => [decodeURIComponent(name.slice(EXTRA.length)), values] as const),
  );
}

/** The user whose rights a request has: the caller, or the user that it impersonates. Throws a 403 if the caller may not do that. */
export function actingIdentity(
  store: ObjectStore,
  caller: Identity,
  { impersonation: wanted, path }: Pick<ApiRequest, 'impersonation' | 'path'>,
): Identity {
  if (!wanted) return caller;
  const { user, groups, uid, extra } = wanted;
  if (user === undefined) throw withoutUser(wanted, path);
  const account = serviceAccountIn(user);
  confirm(store, caller, account ?? { resource: 'users', name: user });
  for (const name of groups) confirm(store, caller, { resource: 'groups', name });
  for (const [subresource, values] of Object.entries(extra))
    for (const name of values) confirm(store, caller, { ...EXTRAS, subresource, name });
  if (uid !== undefined) confirm(store, caller, { group: 'authentication.k8s.io', resource: 'uids', name: uid });
  const implied = account && groups.length === 0 ? groupsOf(account.namespace) : groups;
  return {
    username: user,
    ...(uid !== undefined && { uid }),
    groups: withEverybody(user, implied),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** Adds the group of all authenticated users, or of the anonymous one, unless the caller has named one of these groups. */
function withEverybody(user: string, groups: readonly string[]): readonly string[] {
  const [known, unknown] = ['system:authenticated', 'system:unauthenticated'];
  if (user === 'system:anonymous') return groups.includes(unknown) ? groups : [...groups, unknown];
  return groups.includes(known) || groups.includes(unknown) ? groups : [...groups, known];
}

/** The resource by which RBAC controls extras: the key of an extra is a subresource, and its values are names. */
const EXTRAS = { group: 'authentication.k8s.io', resource: 'userextras' };

/** Impersonating a service account needs a right to `serviceaccounts` instead of `users`. */
function serviceAccountIn(user: string) {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  return namespace && name ? { resource: 'serviceaccounts', namespace, name } : undefined;
}

const groupsOf = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

function confirm(store: ObjectStore, caller: Identity, whom: ResourceAttributes): void {
  const resourceAttributes = { verb: 'impersonate', group: '', ...whom };
  const { allowed } = decide(store, { user: caller.username, groups: caller.groups, resourceAttributes });
  if (!allowed) throw forbidden(caller, resourceAttributes);
}

/** Lists the requested groups, extras and uid as Go prints object references. */
function withoutUser({ groups, uid, extra }: Impersonation, path: string): TextError {
  const wanted = [
    ...groups.map((group) => `{Group  ${group}    }`),
    ...Object.entries(extra).flatMap(([name, values]) =>
      values.map((value) => `{UserExtra  ${value}  authentication.k8s.io/v1  ${name}}`),
    ),
    ...(uid === undefined ? [] : [`{UID  ${uid}  authentication.k8s.io/v1  }`]),
  ];
  const why = `requested [${wanted.join(' ')}] without impersonating a user`;
  return new TextError(500, `Internal Server Error: ${JSON.stringify(path)}: ${why}\n`);
}
