import { badRequest, StatusError } from '../status-error.ts';

/** The user that a call asks to impersonate, by `Impersonate-User` and `Impersonate-Group` (`kubectl --as`, `--as-group`). */
export interface ActingAs {
  readonly name: string;
  /** In the order of the headers. */
  readonly groups: readonly string[];
}

/** An impersonation that the caller has the right to. */
export interface Impersonation {
  /** The user and groups that the caller must have the right to impersonate, for as long as the call lasts. */
  readonly asked: ActingAs;
  /** The user that the cluster sees; its groups include those that every signed-in user has. */
  readonly subject: { readonly name: string; readonly uid: string; readonly groups: readonly string[] };
}

/** A resource that the caller needs the verb `impersonate` on. */
export interface ImpersonationRight {
  readonly resource: 'users' | 'groups';
  readonly name: string;
}

const USER = 'impersonate-user';
const GROUP = 'impersonate-group';

const IMPERSONATE = /^impersonate/i;

/** Whether the request has an `Impersonate` header, in any spelling that some server accepts as one (A-30, docs/promises.md). */
export function asksToImpersonate(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) if (IMPERSONATE.test(rawHeaders[at] as string)) return true;
  return false;
}

/**
 * The user and groups that the headers ask to impersonate; `undefined` when there is no such header. Throws a `StatusError` for
 * headers that kube-apiserver refuses, and for those that it accepts and we do not: a uid, extras, and other spellings.
 */
export function readActingAs(rawHeaders: readonly string[]): ActingAs | undefined {
  const names = namesOf(rawHeaders);
  const asked = names.filter((name) => name.startsWith('impersonate'));
  if (asked.length === 0) return undefined;
  if (asked.some((name) => name !== USER && name !== GROUP)) throw onlyUsersAndGroups();
  const valuesOf = (wanted: string): string[] =>
    names.flatMap((name, at) => (name === wanted ? [toText(rawHeaders[2 * at + 1] as string)] : []));
  const [name = '', ...others] = valuesOf(USER);
  if (others.length > 0) throw badRequest('the request has more than one Impersonate-User header');
  if (name === '') throw badRequest('the request has Impersonate headers, but no user in Impersonate-User');
  return { name, groups: valuesOf(GROUP).filter((group) => group !== '') };
}

/**
 * The first user and all groups that the headers name, for the audit trail: also from headers that `readActingAs` refuses.
 * Octets that are not UTF-8 become U+FFFD.
 */
export function namedInHeaders(rawHeaders: readonly string[]): {
  readonly user?: string;
  readonly groups: readonly string[];
} {
  if (!asksToImpersonate(rawHeaders)) return { groups: [] };
  const names = namesOf(rawHeaders).map((name) => name.replaceAll('_', '-'));
  const valuesOf = (wanted: string): string[] =>
    names.flatMap((name, at) =>
      name === wanted ? [Buffer.from(rawHeaders[2 * at + 1] as string, 'latin1').toString()] : [],
    );
  const [user] = valuesOf(USER);
  return { ...(user === undefined ? {} : { user }), groups: valuesOf(GROUP) };
}

/** The header names in lower case, in the order of the request. */
const namesOf = (rawHeaders: readonly string[]): string[] =>
  rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Node decodes a header as Latin-1, one character for each byte; names in Kubernetes are UTF-8. */
function toText(value: string): string {
  try {
    return utf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    throw badRequest('an Impersonate header is not UTF-8');
  }
}

/** The rights that the API server checks when a user impersonates another, in the order in which it checks them. */
export const rightsToImpersonate = ({ name, groups }: ActingAs): readonly ImpersonationRight[] => [
  { resource: 'users', name },
  ...groups.map((group) => ({ resource: 'groups' as const, name: group })),
];

const onlyUsersAndGroups = (): StatusError =>
  new StatusError('Forbidden', {
    message: 'only a user and groups can be impersonated through this server: Impersonate-User and Impersonate-Group',
  });
