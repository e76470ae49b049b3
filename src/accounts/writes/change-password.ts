import type { KubernetesObject } from '../../kubernetes/object.ts';
import { asObject } from '../../runtime/text/json-value.ts';
import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import { badRequest, type StatusCause } from '../../status-error.ts';
import type { PasswordSignIn } from '../../users/sign-in.ts';
import { passwordFaults } from '../passwords/password-rules.ts';
import { PasswordReplacedError } from '../passwords/password-store.ts';
import { attemptsTurnedAway, notSaved, throwNotSaved } from '../refusals.ts';
import type { Caller } from './caller.ts';
import { parseObject, textIn } from './user-body.ts';
import { currentUser, endSessions, isOwn, type UserWriteParts } from './user-writes.ts';

export interface PasswordChangeParts extends UserWriteParts {
  /** Checks the current password like a sign-in: the same buckets count its failures (AC-67). */
  readonly signIn: Pick<PasswordSignIn, 'signIn'>;
}

export interface PasswordChangeRequest {
  /** The name in the path. */
  readonly name: string;
  readonly body: Buffer;
}

/**
 * Changes a password (docs/contract/accounts.md, section 6.6). Callers who change their own password must prove the current one,
 * even managers: a stolen token must not be enough to take over the account (AC-61). All sessions of the user end before the new
 * password is stored, but for the one in which users change their own (CO-15).
 */
export function createPasswordChange(
  parts: PasswordChangeParts,
): (request: PasswordChangeRequest, caller: Caller) => Promise<void> {
  return async ({ name, body }, caller) => {
    const { current, password } = parseChange(body, name, parts);
    const user = await currentUser(name, parts);
    const isSelf = isOwn(user, caller, parts);
    const isProven = isSelf || current !== undefined;
    const instead = isProven ? parts.passwords.hashOf({ name, uid: user.metadata.uid }) : undefined;
    if (isProven) await proveCurrent(name, current, caller, parts);
    await setPassword(user, password, caller, { parts, isFirst: isSelf, instead });
  };
}

function parseChange(
  body: Buffer,
  name: string,
  { refusals }: UserWriteParts,
): { readonly current: string | undefined; readonly password: string } {
  const object = parseObject(body);
  const faults: StatusCause[] = [];
  const current = textIn(object, 'currentPassword', 'currentPassword', faults);
  const password = textIn(object, 'password', 'password', faults) ?? '';
  if (faults.length === 0) faults.push(...passwordFaults('password', password));
  if (faults.length > 0) throw refusals.invalidUser(name, faults);
  return { current: current || undefined, password };
}

/** AC-61, AC-63. The words are those of 3.4. */
const incorrect = () => badRequest('incorrect old password');

async function proveCurrent(
  name: string,
  current: string | undefined,
  { source, signal }: Caller,
  { signIn }: PasswordChangeParts,
): Promise<void> {
  if (current === undefined) throw incorrect();
  const result = await signIn.signIn({ username: name, password: current, source, signal });
  if (result.kind === 'ok') return;
  throw result.kind === 'refused' ? incorrect() : attemptsTurnedAway(result.retryAfterSeconds);
}

interface PasswordSetting {
  readonly parts: UserWriteParts;
  readonly isFirst: boolean;
  /** The hash of the password that the caller has proven. Only this hash is replaced, so one of two changes at the same time fails. */
  readonly instead?: string | undefined;
}

/**
 * Hashes and stores a new password, after ending the sessions of the user. If it cannot be stored, the old one stays, and the
 * client may repeat the request. `isFirst` also removes the mark of users who must set a first password.
 */
export async function setPassword(
  { metadata: { name, uid, annotations } }: KubernetesObject,
  password: string,
  caller: Caller,
  { parts, isFirst, instead }: PasswordSetting,
): Promise<KubernetesObject> {
  const { hasher, passwords, objects, names, clock } = parts;
  const since = toRfc3339(clock.now());
  const hashed = await hasher.hash(password, { source: caller.source, signal: caller.signal });
  if (hashed.kind === 'busy') throw attemptsTurnedAway(hashed.retryAfterSeconds);
  // `isFirst`: the caller is the user.
  const session = isFirst ? caller.session : undefined;
  await endSessions(name, parts, session === undefined ? undefined : { session, passwordHash: hashed.hash });
  await passwords.set({ name, uid }, hashed.hash, instead).catch((error: unknown) => {
    if (error instanceof PasswordReplacedError) throw incorrect();
    throw notSaved('the cluster did not confirm the new password', error);
  });
  const changed = {
    [names.lastPasswordChange]: since,
    [names.tokensNotBefore]: since,
    [names.sparedSession]: session === undefined ? null : `${since} ${session}`,
    ...(isFirst ? { [names.uninitialized]: null } : {}),
    ...(asObject(annotations)[names.passwordMoved] === undefined ? {} : { [names.passwordMoved]: null }),
  };
  return await objects
    .patch(name, { metadata: { uid, annotations: changed } })
    .catch(throwNotSaved('the new password is saved, but not when'));
}
