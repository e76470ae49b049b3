import type { ObjectStore } from '../../dev/cluster/object-store.ts';
import { accountNames } from '../../src/accounts/names.ts';
import {
  encodePassword,
  passwordLabels,
  passwordPrefix,
  passwordSecretName,
} from '../../src/accounts/passwords/password-secrets.ts';

interface BenchUser {
  readonly name: string;
  readonly email: string;
  readonly groups: readonly string[];
  /** The bcrypt hash of the password. */
  readonly hash: string;
}

const NAMES = accountNames('gatehouse');
/** The namespace of Gatehouse's Secrets, outside a cluster. */
const NAMESPACE = 'default';

/** Creates a user as the accounts API leaves one: the object, and the Secret with the password. */
export function createUserObject(objects: ObjectStore, { name, email, groups, hash }: BenchUser): void {
  const { metadata } = objects.create('users', {
    metadata: {
      name,
      finalizers: [NAMES.finalizer],
      annotations: { [NAMES.lastPasswordChange]: '2026-01-01T00:00:00Z', 'gatehouse.io/creator': 'admin' },
    },
    spec: { email, lang: 'en', groups },
    status: { state: 'Active', lastTransitionTime: '2026-01-01T00:00:00Z' },
  });
  const data = Object.entries(encodePassword({ user: name, uid: metadata.uid, hash }));
  objects.create('secrets', {
    metadata: {
      name: passwordSecretName(passwordPrefix(NAMES.platform), name),
      namespace: NAMESPACE,
      labels: passwordLabels(NAMES.platform),
    },
    data: Object.fromEntries(data.map(([key, bytes]) => [key, bytes.toString('base64')])),
  });
}
