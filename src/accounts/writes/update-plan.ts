import type { KubernetesObject } from '../../kubernetes/object.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import type { StatusCause } from '../../status-error.ts';
import { type GivenState, isGivenState } from '../../users/user.ts';
import { badField } from '../refusals.ts';
import { bad, emailFaults, groupsFaults, required, textFaults } from '../users/user-fields.ts';
import { toUserRecord, type UserRecord } from '../users/user-record.ts';
import { annotationsAfter } from './annotations.ts';
import type { WrittenUser } from './user-body.ts';
import type { UserWriteParts } from './user-writes.ts';

/** Everything that an update changes, checked and ready to be written. */
export interface Planned {
  readonly object: KubernetesObject;
  readonly state: GivenState | undefined;
  /** The role to give; `undefined`: the role stays. */
  readonly role: string | undefined;
}

/** What is known of the caller, and which roles the user has. */
interface CallerAndRoles {
  readonly isManager: boolean;
  readonly isSelf: boolean;
  /** The user's roles. Answers show the first one. */
  readonly roles: readonly string[];
  readonly parts: UserWriteParts;
}

interface Before {
  readonly record: UserRecord;
  /** The stored `spec`. */
  readonly before: Readonly<Record<string, unknown>>;
  readonly isManager: boolean;
}

/** The size of the annotations that a user without rights may keep on their own object; every replica holds them in memory. */
const LONGEST_OWN_ANNOTATIONS = 16 * 1024;

/**
 * Plans the changes that the body asks for. Throws 400 or 422 for bad fields, 409 for another version or a taken address, 403 for
 * what the caller may not change.
 */
export function planUpdate(
  written: WrittenUser,
  stored: KubernetesObject,
  { isManager, isSelf, roles, parts }: CallerAndRoles,
): Planned {
  const { names, clock, refusals } = parts;
  const { name, resourceVersion } = stored.metadata;
  const record = toUserRecord(stored, names);
  const before = asObject(stored['spec']);
  checkFields(written, { record, before, isManager }, parts);
  if (written.resourceVersion !== resourceVersion) throw refusals.conflict(name);
  const [shown] = roles;
  const asked = written.annotations?.[names.globalRole] || undefined;
  const { state } = written;
  const isOtherState = state !== undefined && state !== record.state;
  if (isOtherState && !isGivenState(state))
    throw badField('status.state', 'must be Active or Disabled', 'FieldValueNotSupported');
  const groups = written.groups ?? (isManager ? undefined : record.groups);
  const labels = written.labels ?? (isManager ? undefined : stored.metadata.labels);
  if (!isManager) refuseForeignFields(written, stored, { record, shown, isOtherState }, parts);
  const rights = { isManager, isSelf, names };
  const annotations = annotationsAfter(written.annotations, stored.metadata.annotations ?? {}, rights);
  if ('refused' in annotations)
    throw refusals.forbiddenChange(
      name,
      `you may not change the annotation "${annotations.refused}"`,
      'metadata.annotations',
    );
  const role = asked !== undefined && isManager && (asked !== shown || roles.length > 1) ? asked : undefined;
  const { email, lang, displayName, description } = written;
  const spec = { ...before, email, lang, displayName, description, groups };
  return {
    object: {
      ...stored,
      metadata: {
        ...stored.metadata,
        labels: labels ?? {},
        // The time is in the object itself, because disabling a user must end the sessions even if their records are lost.
        annotations: {
          ...annotations.annotations,
          ...(isOtherState && state === 'Disabled' ? { [names.tokensNotBefore]: toRfc3339(clock.now()) } : {}),
          // An update that changes nothing succeeds at any version, and a role is not stored in the object. With this annotation
          // every change of a role changes the object. So of two such changes at one version only one succeeds.
          ...(role === undefined ? {} : { [names.lastRoleChange]: new Date(clock.now()).toISOString() }),
        },
      },
      spec: Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)),
    },
    state: isOtherState ? (state as GivenState) : undefined,
    role,
  };
}

function annotationFaults(annotations: Readonly<Record<string, string>>): StatusCause[] {
  const bytes = Buffer.byteLength(Object.entries(annotations).flat().join(''));
  return bytes <= LONGEST_OWN_ANNOTATIONS
    ? []
    : [bad('metadata.annotations', `must have at most ${LONGEST_OWN_ANNOTATIONS} bytes in all`)];
}

/** Finds every fault, except in fields that do not change: a user whom another tool created must stay changeable. */
function checkFields(
  written: WrittenUser,
  { record, before, isManager }: Before,
  { refusals, known }: UserWriteParts,
): void {
  const { email, lang, displayName, description, groups, password } = written;
  const addressFaults = email === undefined || email === record.email ? [] : emailFaults(email);
  const faults: StatusCause[] = [
    ...written.faults,
    ...(written.resourceVersion ? [] : [bad('metadata.resourceVersion', 'must be specified for an update')]),
    ...(email === undefined ? [required('spec.email', 'Required value: it may be empty')] : []),
    ...(lang === record.lang ? [] : textFaults('spec.lang', lang ?? '')),
    ...(displayName === before['displayName'] ? [] : textFaults('spec.displayName', displayName ?? '')),
    ...(description === before['description'] ? [] : textFaults('spec.description', description ?? '')),
    ...(isManager ? [] : annotationFaults(written.annotations ?? {})),
    ...(groups === undefined || isSame(groups, record.groups) ? [] : groupsFaults(groups)),
    ...(password ? [bad('spec.password', 'is changed at …/users/{user}/password')] : []),
  ];
  if (faults.length > 0) throw refusals.invalidUser(record.name, [...faults, ...addressFaults]);
  if (addressFaults[0]) throw badField('spec.email', addressFaults[0].message);
  const isTaken = (address: string) => known.ownersOfEmail(address).some((owner) => owner !== record.name);
  if (email && email !== record.email && isTaken(email)) throw refusals.emailTaken(record.name);
}

/** Refuses changes that only a manager may make (AC-34). */
function refuseForeignFields(
  written: WrittenUser,
  stored: KubernetesObject,
  now: { readonly record: UserRecord; readonly shown: string | undefined; readonly isOtherState: boolean },
  { names, refusals }: UserWriteParts,
): void {
  const { record, shown, isOtherState } = now;
  const refuse = (field: string): never => {
    throw refusals.forbiddenChange(record.name, `you may not change ${field} of yourself`, field);
  };
  if (written.groups && !isSame(written.groups, record.groups)) refuse('spec.groups');
  if (written.labels && !isSameTexts(written.labels, stored.metadata.labels ?? {})) refuse('metadata.labels');
  if (isOtherState && written.state !== '') refuse('status.state');
  const role = written.annotations?.[names.globalRole] || undefined;
  if (role !== undefined && role !== shown) refuse(`metadata.annotations[${names.globalRole}]`);
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at]);

export const isSameTexts = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((key) => a[key] === b[key]);
