import { hashOf } from '../../support/passwords.ts';

/** A person of the installation, as 3.4 keeps them. */
export interface OldPerson {
  /** Absent: none, as of those who come from an identity provider. */
  readonly password?: string;
  /** The password is there as it was typed. */
  readonly isClear?: true;
  readonly state?: 'Active' | 'Disabled' | 'AuthLimitExceeded';
  readonly globalRole: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: object;
}

/** Made up for each run. */
const typed = (name: string): string => `${name}-Password-${crypto.randomUUID().slice(0, 8)}1`;

export const OLD_PEOPLE = {
  admin: { password: typed('admin'), globalRole: 'platform-admin', spec: { lang: 'en' } },
  paula: { password: typed('paula'), globalRole: 'platform-admin' },
  /** A member of the workspace and of its namespace. */
  olivia: {
    ...{ password: typed('olivia'), globalRole: 'platform-regular' },
    annotations: { 'iam.kubesphere.io/granted-clusters': '["host"]', 'kubesphere.io/creator': 'admin' },
    spec: { displayName: 'Olivia', description: 'on call', groups: ['shop-team'] },
  },
  dora: { password: typed('dora'), globalRole: 'platform-regular', state: 'Disabled' },
  /** Has never signed in. */
  uma: {
    ...{ password: typed('uma'), globalRole: 'platform-self-provisioner' },
    annotations: { 'iam.kubesphere.io/uninitialized': 'true' },
  },
  /** An installation that began as a 3.0 has such a person. */
  theo: {
    ...{ password: typed('theo'), globalRole: 'platform-regular' },
    annotations: { 'iam.kubesphere.io/password-encrypted': 'true' },
  },
  /** Written by a tool while no controller ran. */
  clara: { password: typed('clara'), isClear: true, globalRole: 'platform-regular' },
  /** From an identity provider. */
  ivo: {
    globalRole: 'platform-regular',
    labels: { 'iam.kubesphere.io/identify-provider': 'ldap', 'iam.kubesphere.io/origin-uid': 'uid-ivo' },
  },
} as const satisfies Readonly<Record<string, OldPerson>>;

export type OldName = keyof typeof OLD_PEOPLE;
export const OLD_NAMES = Object.keys(OLD_PEOPLE) as OldName[];

const LAST = '2025-01-02T03:04:05Z';

/** The User objects. Go writes the variant `$2a$` of a hash. */
export const userObjects = (): Promise<readonly object[]> =>
  Promise.all(
    OLD_NAMES.map(async (name) => {
      const { password, isClear, state, annotations, labels, spec }: OldPerson = OLD_PEOPLE[name];
      const stored = isClear || password === undefined ? password : (await hashOf(password)).replace(/^\$2.\$/, '$2a$');
      return {
        ...{ apiVersion: 'iam.kubesphere.io/v1alpha2', kind: 'User' },
        metadata: {
          name,
          annotations: { 'iam.kubesphere.io/last-password-change-time': LAST, ...annotations },
          labels: { 'kubefed.io/managed': 'false', ...labels },
          finalizers: ['finalizers.kubesphere.io/users'],
        },
        spec: { email: `${name}@example.test`, ...spec, ...(stored !== undefined && { password: stored }) },
        status: { state: state ?? 'Active', lastTransitionTime: LAST, lastLoginTime: LAST },
      };
    }),
  );
