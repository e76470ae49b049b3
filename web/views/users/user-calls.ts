import { call } from '../../api/call.ts';
import type { KubernetesObject, ObjectList } from '../../api/objects.ts';
import type { Refusal } from '../../api/refusal.ts';
import { accountsRoot, settings } from '../../app/settings.ts';
import { usePolled } from '../../app/use-live.ts';

/** How often a change is tried again that met another one. */
const ATTEMPTS = 3;
const ROLES_EVERY_MS = 60_000;

export const userPath = (name: string): string => `${accountsRoot()}/users/${encodeURIComponent(name)}`;

const annotation = (name: string): string => `iam.${settings().platform}.io/${name}`;

const annotationOf = ({ metadata }: KubernetesObject, name: string): string =>
  metadata.annotations?.[annotation(name)] ?? '';

export const roleOf = (user: KubernetesObject): string => annotationOf(user, 'globalrole');
export const passwordChangeOf = (user: KubernetesObject): string => annotationOf(user, 'last-password-change-time');
/** Whether somebody else knows the password, so that a new one is asked for at the next sign-in. */
export const mustChoosePassword = (user: KubernetesObject): boolean => annotationOf(user, 'uninitialized') !== '';

const annotated = (user: KubernetesObject, name: string, value: string): KubernetesObject => ({
  ...user,
  metadata: { ...user.metadata, annotations: { ...user.metadata.annotations, [annotation(name)]: value } },
});

export const withRole = (user: KubernetesObject, role: string): KubernetesObject => annotated(user, 'globalrole', role);
const withFirstPassword = (user: KubernetesObject): KubernetesObject => annotated(user, 'uninitialized', 'true');
export const withState = (user: KubernetesObject, state: 'Active' | 'Disabled'): KubernetesObject => ({
  ...user,
  status: { ...user.status, state },
});

/** The platform roles that may be given to users. */
export const useRoles = () =>
  usePolled<ObjectList>(`${accountsRoot()}/globalroles?sortBy=name&ascending=true`, ROLES_EVERY_MS);

/** Changes a user as it is now. Nobody who changes it at the same moment loses anything: the change is tried again on the newer state. */
export async function changeUser(
  name: string,
  change: (user: KubernetesObject) => KubernetesObject,
): Promise<Refusal | undefined> {
  for (let attempt = 1; ; attempt++) {
    const read = await call<KubernetesObject>(userPath(name));
    if (!read.ok) return read.refusal;
    const written = await call(userPath(name), { method: 'PUT', body: change(read.value) });
    if (written.ok) return undefined;
    if (written.refusal.reason !== 'Conflict' || attempt === ATTEMPTS) return written.refusal;
  }
}

interface Invited {
  readonly name: string;
  readonly email: string;
  /** Empty: none. */
  readonly role: string;
  readonly password: string;
}

/** Creates a user who has to choose a password of their own at the first sign-in. */
export async function createUser({ name, email, role, password }: Invited): Promise<Refusal | undefined> {
  const user = withFirstPassword({
    kind: 'User',
    apiVersion: `iam.${settings().platform}.io/v1alpha2`,
    metadata: { name },
    spec: { email, password },
  });
  const outcome = await call(`${accountsRoot()}/users`, {
    method: 'POST',
    body: role === '' ? user : withRole(user, role),
  });
  return outcome.ok ? undefined : outcome.refusal;
}

/**
 * Sets the password of somebody else. If they have to choose their own, that is noted first: should the second step fail, they are asked
 * for a new password all the same.
 */
export async function setPassword(
  name: string,
  password: string,
  { mustChoose }: { readonly mustChoose: boolean },
): Promise<Refusal | undefined> {
  const refusal = mustChoose ? await changeUser(name, withFirstPassword) : undefined;
  if (refusal) return refusal;
  const outcome = await call(`${userPath(name)}/password`, { method: 'PUT', body: { password } });
  return outcome.ok ? undefined : outcome.refusal;
}

/** Deletes a user with all that belongs to it. */
export async function removeUser(name: string): Promise<Refusal | undefined> {
  const outcome = await call(userPath(name), { method: 'DELETE' });
  return outcome.ok ? undefined : outcome.refusal;
}
