import { isAlreadyExists } from '../../kubernetes/client/api-client.ts';
import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import type { Clock } from '../../runtime/clock.ts';
import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import { type GivenState, isReservedName, type User } from '../../users/user.ts';
import { makeUser, type UserMakingParts, type UserToMake } from '../make-user.ts';
import { type AccountNames, userRef } from '../names.ts';
import type { PasswordOwner } from '../passwords/password-store.ts';
import { boundRole, boundUser, toBinding } from '../roles/role-binding.ts';
import type { StatusPatch } from '../states/status-patch.ts';
import { bad, emailFaults, groupsFaults, nameFaults } from '../users/user-fields.ts';
import { toUserRecord, type UserRecord } from '../users/user-record.ts';

export interface UserOperatorParts {
  readonly names: AccountNames;
  readonly reservedNames: ReadonlySet<string>;
  /** The User objects. */
  readonly objects: ClusterObjects;
  readonly patchStatus: StatusPatch;
  readonly bindings: ClusterObjects;
  readonly roles: Pick<ClusterObjects, 'list'>;
  /** Stores a hash for a user object. */
  setPassword(owner: PasswordOwner, hash: string): Promise<void>;
  readonly clock: Clock;
  print(line: string): void;
}

/** The operator's request cannot be carried out; the message is one sentence. */
export class UserRequestError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UserRequestError';
  }
}

export interface NewUser {
  readonly name: string;
  readonly email: string;
  readonly emailVerified?: true | undefined;
  readonly groups: readonly string[];
  readonly role?: string | undefined;
  readonly lang?: string | undefined;
  readonly state?: GivenState;
  /** Absent: the user cannot sign in until a password is set. */
  readonly hash?: string | undefined;
}

/**
 * The operator's commands on users. They need rights on the cluster, but no running server. They write to the cluster only, and
 * running servers see the changes in their watches.
 */
export class UserOperator {
  readonly #parts: UserOperatorParts;

  constructor(parts: UserOperatorParts) {
    this.#parts = parts;
  }

  async list(): Promise<void> {
    const { objects, bindings, names, print } = this.#parts;
    const roles = rolesByUser(await bindings.list(names.userRef), names);
    const rows = (await objects.list('')).map((object) => toUserRecord(object, names));
    rows.sort((a, b) => (a.name < b.name ? -1 : 1));
    const table = rows.map(({ name, email, state, lastLoginTime }) => [
      name,
      email || '-',
      state || '-',
      roles.get(name) ?? '-',
      lastLoginTime || '-',
    ]);
    for (const line of columns([['NAME', 'EMAIL', 'STATE', 'ROLE', 'LAST SIGN-IN'], ...table])) print(line);
  }

  async create(user: NewUser): Promise<void> {
    this.#check(user);
    await this.#refuseTakenEmail(user);
    await this.#refuseOtherRoles(user);
    await this.#make(user);
    this.#parts.print(`made the user ${user.name}${user.hash === undefined ? ', who has no password yet' : ''}`);
  }

  /**
   * Ends the sessions before it stores the password, as the API does: if a later write fails, no old session is left. It ends them
   * again afterwards, because somebody may have signed in with the old password meanwhile.
   */
  async setPassword(name: string, hash: string): Promise<void> {
    const { names, objects, clock, print } = this.#parts;
    const { uid, passwordMoved } = await this.#one(name);
    const annotate = (annotations: object) => objects.patch(name, { metadata: { uid, annotations } });
    await annotate({ [names.tokensNotBefore]: toRfc3339(clock.now()) });
    await this.#parts.setPassword({ name, uid }, hash);
    const now = toRfc3339(clock.now());
    const moved = passwordMoved === '' ? {} : { [names.passwordMoved]: null };
    await annotate({ [names.lastPasswordChange]: now, [names.tokensNotBefore]: now, ...moved });
    print(`the password of ${name} is set, and all sessions of ${name} end`);
  }

  async setState(name: string, state: GivenState, reason: string): Promise<void> {
    const { objects, names, patchStatus, clock, print } = this.#parts;
    const { uid } = await this.#one(name);
    if (state === 'Disabled')
      await objects.patch(name, {
        metadata: { uid, annotations: { [names.tokensNotBefore]: toRfc3339(clock.now()) } },
      });
    const status = { state, reason, lastTransitionTime: toRfc3339(clock.now()) };
    await patchStatus(name, status, { uid });
    print(`${name} is ${state}`);
  }

  async unlock(name: string): Promise<void> {
    const { state } = await this.#one(name);
    if (state !== 'AuthLimitExceeded')
      throw new UserRequestError(`${name} is not locked, but ${state || 'without a state'}`);
    await this.setState(name, 'Active', 'unlocked by an operator');
  }

  /**
   * Creates a User object for each user of a users file who has none. Existing objects do not change. Without `isApplied` it only
   * prints what it would do.
   */
  async import(file: readonly User[], isApplied: boolean): Promise<void> {
    const { objects, names, print } = this.#parts;
    const there = (await objects.list('')).map((object) => toUserRecord(object, names));
    const states = new Map(there.map(({ name, state }) => [name, state || 'not set']));
    const owners = new Map(there.map(({ name, email }) => [email.toLowerCase(), name]));
    let made = 0;
    for (const user of file) {
      const state = states.get(user.name);
      const address = user.email?.toLowerCase() ?? '';
      const fault =
        state === undefined
          ? this.#faultOf(user, address === '' ? undefined : owners.get(address))
          : `there is an object of this name (state ${state})`;
      if (fault) print(`skip  ${user.name}: ${fault}`);
      else {
        if (isApplied) await this.#make(toNewUser(user));
        print(`${isApplied ? 'made ' : 'make '} ${user.name}`);
        owners.set(address, user.name);
        made += 1;
      }
    }
    const skipped = file.length - made;
    print(
      isApplied
        ? `${made} made, ${skipped} skipped`
        : `${made} to make, ${skipped} to skip: nothing is written without --apply`,
    );
  }

  #faultOf({ name }: User, owner: string | undefined): string | undefined {
    const [fault] = nameFaults(name, this.#parts.reservedNames);
    if (fault) return isReservedName(name) ? 'the name is reserved' : fault.message;
    return owner === undefined ? undefined : `${owner} has the same e-mail address`;
  }

  #check({ name, email, groups }: NewUser): void {
    const faults = [
      ...nameFaults(name, this.#parts.reservedNames),
      ...emailFaults(email),
      ...groupsFaults(groups),
      ...(new Set(groups).size < groups.length ? [bad('spec.groups', 'a group is given twice')] : []),
    ];
    if (faults.length > 0)
      throw new UserRequestError(faults.map(({ field, message }) => `${field}: ${message}`).join('; '));
  }

  async #refuseTakenEmail({ email }: NewUser): Promise<void> {
    if (email === '') return;
    const { objects, names } = this.#parts;
    const all = (await objects.list('')).map((object) => toUserRecord(object, names));
    const owner = all.find((record) => record.email.toLowerCase() === email.toLowerCase());
    if (owner) throw new UserRequestError(`${owner.name} has this e-mail address`);
  }

  async #refuseOtherRoles({ role }: NewUser): Promise<void> {
    if (role === undefined) return;
    const { roles, names } = this.#parts;
    const assignable = (await roles.list(`${names.assignable}=true`)).map(({ metadata }) => metadata.name).sort();
    if (assignable.includes(role)) return;
    throw new UserRequestError(`there is no platform role ${role}: there are ${assignable.join(', ') || 'none'}`);
  }

  async #one(name: string): Promise<UserRecord> {
    const { objects, names } = this.#parts;
    const object = await objects.get(name);
    if (!object) throw new UserRequestError(`there is no user object ${name}`);
    const record = toUserRecord(object, names);
    if (record.isDeleting) throw new UserRequestError(`${name} is being deleted`);
    if (record.isIncomplete) throw new UserRequestError(`${name} is still being made`);
    return record;
  }

  async #make({ name, email, emailVerified, lang, groups, role, hash, state = 'Active' }: NewUser): Promise<void> {
    const { objects, bindings, names, patchStatus, setPassword, clock } = this.#parts;
    const claiming: UserMakingParts['objects'] = {
      create: (object) =>
        objects.create(object).catch((error: unknown) => {
          throw isAlreadyExists(error) ? new UserRequestError(`there is a user object ${name}`) : error;
        }),
      patch: (...patch) => objects.patch(...patch),
    };
    const user: UserToMake = {
      name,
      state,
      hash,
      ...(emailVerified ? { annotations: { [names.emailVerified]: email } } : {}),
      spec: { email, lang, groups: groups.length === 0 ? undefined : groups },
      giveRole: async () => {
        if (role !== undefined) await bindings.create(toBinding(name, role, names));
      },
      undo: async ({ uid }) => {
        // The object's finalizer makes a running server remove everything that belongs to the user.
        await objects.remove(name, { uid }).catch(() => undefined);
      },
    };
    const passwords = { set: setPassword };
    await makeUser(user, { names, objects: claiming, passwords, patchStatus, clock });
  }
}

const toNewUser = ({ name, email = '', emailVerified, groups, locale, state, passwordHash }: User): NewUser => ({
  name,
  email,
  emailVerified,
  groups,
  lang: locale,
  state: state === 'Disabled' ? 'Disabled' : 'Active',
  hash: passwordHash,
});

/** The role of each user: that of the first binding by name, as in the API. */
function rolesByUser(bindings: readonly KubernetesObject[], names: AccountNames): ReadonlyMap<string, string> {
  const roles = new Map<string, string>();
  for (const binding of [...bindings].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const [user, role] = [boundUser(binding), boundRole(binding)];
    const isOurs = user !== undefined && binding.metadata.labels?.[names.userRef] === userRef(user);
    if (isOurs && role !== undefined && !roles.has(user)) roles.set(user, role);
  }
  return roles;
}

/** Formats rows so that each column is as wide as its widest text. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
