import type { Random } from '../src/runtime/random.ts';
import type { ObjectStore } from './cluster/object-store.ts';
import { viewing } from './demo-rights.ts';
import { type DemoPlace, post } from './demo-sign-in.ts';

const NAME = 'dana';
/** The namespaces whose objects the person may read. */
export const DANAS_NAMESPACES: readonly string[] = ['shop', 'monitoring'];

/** Somebody who can sign in. */
export interface Person {
  readonly username: string;
  readonly password: string;
}

/**
 * Makes the user of that name, if it is an object, one who has chosen the password. Otherwise the first sign-in in a browser would ask for
 * another one, and the printed commands would no longer work.
 */
export function noteChosenPassword(
  name: string,
  { objects, platform }: { readonly objects: ObjectStore; readonly platform: string },
): void {
  if (!objects.list('users').some(({ metadata }) => metadata.name === name)) return;
  objects.patch('users', name, { metadata: { annotations: { [`iam.${platform}.io/uninitialized`]: null } } });
}

interface Invitation {
  readonly place: Pick<DemoPlace, 'origin'>;
  /** The token of an administrator. */
  readonly token: string;
  readonly platform: string;
  readonly objects: ObjectStore;
  readonly random: Random;
}

/**
 * Creates a user, as an administrator would, with rights in two namespaces only. Resolves with name and password, or to undefined where
 * the user's own configuration lets nobody create users.
 */
export async function invitePerson({
  place,
  token,
  platform,
  objects,
  random,
}: Invitation): Promise<Person | undefined> {
  // The letters in front are what the rule for passwords asks for.
  const password = `Aa1${Buffer.from(random.bytes(9)).toString('base64url')}`;
  const user = {
    kind: 'User',
    apiVersion: `iam.${platform}.io/v1alpha2`,
    metadata: { name: NAME, annotations: { [`iam.${platform}.io/globalrole`]: 'platform-regular' } },
    spec: { email: `${NAME}@example.test`, password },
  };
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
  const url = `${place.origin}/kapis/iam.${platform}.io/v1alpha2/users`;
  const { status } = await post(url, JSON.stringify(user), headers);
  if (status !== 200) return undefined;
  for (const [kind, object] of viewing(NAME, DANAS_NAMESPACES)) objects.create(kind, object);
  return { username: NAME, password };
}
