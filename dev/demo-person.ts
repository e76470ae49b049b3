import type { Random } from '../src/runtime/random.ts';
import type { ObjectStore } from './cluster/object-store.ts';
import { viewing } from './demo-rights.ts';
import { type DemoPlace, post } from './demo-sign-in.ts';

const NAME = 'dana';
/** The namespaces whose objects the person may read. */
export const DANAS_NAMESPACES: readonly string[] = ['shop', 'monitoring'];

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
}: Invitation): Promise<{ readonly username: string; readonly password: string } | undefined> {
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
