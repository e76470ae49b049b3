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

/** `headers` has the values of each header that came more than once. */
export function impersonationIn(headers: Headers): Impersonation | undefined {
  const user = utf8(headers['impersonate-user']?.[0] ?? '') || undefined;
  const groups = (headers['impersonate-group'] ?? []).map(utf8);
  const uid = headers['impersonate-uid']?.[0] || undefined;
  const extra = extraIn(headers);
  const isWanted = (user ?? uid) !== undefined || groups.length > 0 || Object.keys(extra).length > 0;
  return isWanted ? { user, groups, uid, extra } : undefined;
}

/** Node.js reads header values as latin1, the API server takes their octets as they are: texts in UTF-8. */
const utf8 = (value: string): string => Buffer.from(value, 'latin1').toString();

const EXTRA = 'impersonate-extra-';

/** The name of an extra is percent-encoded where a header name has no room for it. */
function extraIn(headers: Headers): Impersonation['extra'] {
  const named = Object.entries(headers).filter(([name]) => name.startsWith(EXTRA));
  return Object.fromEntries(
    named.map(([name, values = []]) => [decodeURIComponent(name.slice(EXTRA.length)), values] as const),
  );
}

/** Whom a request is judged as: the caller, or the user whom the caller may impersonate; 403 for one whom it may not. */
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

/** The group of all who are known, or who are not, unless the caller has named one of them. */
function withEverybody(user: string, groups: readonly string[]): readonly string[] {
  const [known, unknown] = ['system:authenticated', 'system:unauthenticated'];
  if (user === 'system:anonymous') return groups.includes(unknown) ? groups : [...groups, unknown];
  return groups.includes(known) || groups.includes(unknown) ? groups : [...groups, known];
}

/** Who may act with which extras: a subresource each, their values as names. */
const EXTRAS = { group: 'authentication.k8s.io', resource: 'userextras' };

/** A service account is impersonated by a right of its own. */
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

/** Lists what was asked for as Go prints references to objects. */
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
