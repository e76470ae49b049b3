import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { StatusCause } from '../../status-error.ts';
import { type GivenState, isGivenState } from '../../users/user.ts';
import { makeUser, type UserToMake } from '../make-user.ts';
import { passwordFaults } from '../passwords/password-rules.ts';
import type { PasswordOwner } from '../passwords/password-store.ts';
import { attemptsTurnedAway, badField } from '../refusals.ts';
import { bad, emailFaults, groupsFaults, nameFaults, required, textFaults } from '../users/user-fields.ts';
import { annotationsOfNew } from './annotations.ts';
import type { Caller } from './caller.ts';
import { checkBoundName, checkGatewayLabels, checkGroups } from './group-rights.ts';
import { parseUser, type WrittenUser } from './user-body.ts';
import { type AnsweredUser, type CheckAddress, type UserWriteParts, withAddress } from './user-writes.ts';

/** The requested user, after every check that needs no call to the cluster. */
interface Wanted {
  readonly name: string;
  readonly written: WrittenUser;
  readonly role: string | undefined;
  readonly state: GivenState;
  readonly email: string;
}

/**
 * Creates a user, all or nothing (docs/contract/accounts.md, section 6.3): after a failure the steps before it are undone. Nobody
 * sees the user before password, role and state are stored, because until then the object is marked as incomplete. If this process
 * dies, the keeper of any replica removes the user.
 */
export function createUserCreation(parts: UserWriteParts): (body: Buffer, caller: Caller) => Promise<AnsweredUser> {
  const { names, known, assignment, hasher, refusals } = parts;
  return async (body, caller) => {
    const wanted = toWanted(parseUser(body, names), parts);
    const { name, written, role } = wanted;
    if (known.byName(name)) throw refusals.alreadyExists(name);
    if (wanted.email !== '' && known.ownersOfEmail(wanted.email).length > 0) throw refusals.emailTaken(name);
    await checkGroups(written.groups ?? [], name, caller, parts);
    await checkGatewayLabels({ before: undefined, after: written.labels }, name, caller, parts);
    if (await assignment.isBound(name)) await checkBoundName(name, caller, parts);
    if (role !== undefined) await assignment.check(name, role, caller);
    const hashed = written.password ? await hasher.hash(written.password, caller) : undefined;
    if (hashed?.kind === 'busy') throw attemptsTurnedAway(hashed.retryAfterSeconds);
    const object = await withAddress(wanted, parts, (checkAddress) =>
      make({ ...wanted, hash: hashed?.hash, checkAddress }, caller, parts),
    );
    return { object, role };
  };
}

function toWanted(written: WrittenUser, { names, reservedNames, refusals }: UserWriteParts): Wanted {
  const { name = '', state, email } = written;
  if (written.resourceVersion !== undefined)
    throw refusals.invalidUser(name, [bad('metadata.resourceVersion', 'must not be set on a user that is to be made')]);
  const addressFaults = emailFaults(email ?? '');
  const faults: StatusCause[] = [
    ...written.faults,
    ...nameFaults(written.name, reservedNames),
    ...(written.hasSpec ? [] : [required('spec')]),
    ...(written.hasSpec && email === undefined ? [required('spec.email', 'Required value: it may be empty')] : []),
    ...textFaults('spec.lang', written.lang ?? ''),
    ...textFaults('spec.displayName', written.displayName ?? ''),
    ...textFaults('spec.description', written.description ?? ''),
    ...groupsFaults(written.groups ?? []),
    ...(written.password ? passwordFaults('spec.password', written.password) : []),
  ];
  if (faults.length > 0) throw refusals.invalidUser(name, [...faults, ...addressFaults]);
  if (addressFaults[0]) throw badField('spec.email', addressFaults[0].message);
  if (state !== undefined && state !== '' && !isGivenState(state))
    throw badField('status.state', 'must be Active or Disabled', 'FieldValueNotSupported');
  const role = written.annotations?.[names.globalRole] || undefined;
  return { name, written, role, state: state === 'Disabled' ? 'Disabled' : 'Active', email: email ?? '' };
}

interface Ready extends Wanted {
  readonly hash: string | undefined;
  readonly checkAddress: CheckAddress;
}

function make(wanted: Ready, caller: Caller, parts: UserWriteParts): Promise<KubernetesObject> {
  const { name, role, written, email, state, hash, checkAddress } = wanted;
  const { assignment, names, refusals } = parts;
  const { labels, lang, displayName, description, groups } = written;
  let binding: string | undefined;
  const user: UserToMake = {
    name,
    labels,
    annotations: annotationsOfNew(written.annotations ?? {}, names),
    spec: { email, lang, displayName, description, groups },
    state,
    hash,
    claimed: async (metadata) => {
      await checkAddress(metadata);
      // Only now is the User object ours. Before, these bindings could be those of the same user, created by another caller.
      await assignment.clear(name);
    },
    giveRole: async () => {
      if (role !== undefined) binding = await assignment.give(name, role, caller);
    },
    undo: (owner) => undo(owner, { role, binding }, parts),
  };
  return makeUser(user, parts).catch(refusals.throwWriteFailure(name));
}

/** Undoes the finished steps. The keeper later removes what remains, together with the incomplete user. */
async function undo(
  owner: PasswordOwner,
  { role, binding }: { readonly role: string | undefined; readonly binding: string | undefined },
  { objects, passwords, assignment, logger }: UserWriteParts,
): Promise<void> {
  const { name, uid } = owner;
  try {
    // Delete the object first, so that nobody uses a user whose parts are gone. Its finalizer keeps it until the rest is removed.
    await objects.remove(name, { uid });
    if (role !== undefined && binding !== undefined) await assignment.takeBack(name, role, binding);
    await passwords.remove(owner);
    await objects.patch(name, { metadata: { uid, finalizers: null } });
  } catch (error) {
    logger.warn({ err: error, user: name }, 'a user that could not be made is removed later');
  }
}
