import { badRequest, StatusError } from '../status-error.ts';

/** The user that a call asks to impersonate, by `Impersonate-User` and `Impersonate-Group` (`kubectl --as`, `--as-group`). */
export interface ActingAs {
  readonly name: string;
  /** In the order of the headers. */
  readonly groups: readonly string[];
}

/** A call that is made as somebody else. */
export interface Impersonation {
  /** What the caller has to have the right to, as long as the call lasts. */
  readonly asked: ActingAs;
  /** The user that the cluster sees, with the groups that every signed-in user has. */
  readonly subject: { readonly name: string; readonly uid: string; readonly groups: readonly string[] };
}

/** What a caller needs the right to `impersonate` for. */
export interface ImpersonationRight {
  readonly resource: 'users' | 'groups';
  readonly name: string;
}

const USER = 'impersonate-user';
const GROUP = 'impersonate-group';

/** Whether the client asks to be somebody else, in any spelling that some server reads as such. */
export function asksToImpersonate(rawHeaders: readonly string[]): boolean {
  return namesOf(rawHeaders).some((name) => name.startsWith('impersonate'));
}

/**
 * Reads whom the call asks to be made as; `undefined` when it asks for nobody. Throws the refusal of what kube-apiserver does not
 * take, or takes and we do not: a uid, extras, and other spellings of the headers.
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
 * Whom the headers ask for, however wrong they are, for the audit trail: the first user, and the groups. Octets that are
 * not UTF-8 are shown as such.
 */
export function askedFor(rawHeaders: readonly string[]): {
  readonly user?: string;
  readonly groups: readonly string[];
} {
  const names = namesOf(rawHeaders).map((name) => name.replaceAll('_', '-'));
  const valuesOf = (wanted: string): string[] =>
    names.flatMap((name, at) =>
      name === wanted ? [Buffer.from(rawHeaders[2 * at + 1] as string, 'latin1').toString()] : [],
    );
  const [user] = valuesOf(USER);
  return { ...(user === undefined ? {} : { user }), groups: valuesOf(GROUP) };
}

/** In lower case, in their order. */
const namesOf = (rawHeaders: readonly string[]): string[] =>
  rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A header is bytes, which Node gives as one character each; names in Kubernetes are UTF-8. */
function toText(value: string): string {
  try {
    return utf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    throw badRequest('an Impersonate header is not UTF-8');
  }
}

/** The rights that the API server asks for when a user impersonates another, in its order. */
export const impersonatedBy = ({ name, groups }: ActingAs): readonly ImpersonationRight[] => [
  { resource: 'users', name },
  ...groups.map((group) => ({ resource: 'groups' as const, name: group })),
];

const onlyUsersAndGroups = (): StatusError =>
  new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: 'only a user and groups can be impersonated through this server: Impersonate-User and Impersonate-Group',
  });
