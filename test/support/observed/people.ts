import { hashOf } from '../passwords.ts';

/** A user in the recorded cases. The passwords are made up for tests. */
export interface Person {
  readonly name: string;
  readonly password: string;
  readonly email?: string;
  readonly groups: readonly string[];
  readonly state: 'Active' | 'Disabled' | 'AuthLimitExceeded';
}

const PEOPLE: readonly Person[] = [
  { name: 'admin', password: 'Admin-Passw0rd', email: 'admin@example.test', groups: ['admins'], state: 'Active' },
  { name: 'joe', password: 'Joe-P@ss w0rd+1', groups: [], state: 'Active' },
  { name: 'dan', password: 'Dan-Passw0rd', groups: [], state: 'Disabled' },
  { name: 'lou', password: 'Lou-Passw0rd', groups: [], state: 'Active' },
  { name: 'lck', password: 'Lck-Passw0rd', groups: [], state: 'AuthLimitExceeded' },
];

/** Two OAuth clients. The second secret has characters that form-encoding changes. */
export const CLIENTS = {
  client: { name: 'console', secret: 'console-secret-0123456789' },
  client2: { name: 'second', secret: 'p:a%ss +wörd&=1' },
} as const;

export function person(name: string): Person {
  const found = PEOPLE.find((one) => one.name === name);
  if (!found) throw new Error(`the cases know no user ${name}`);
  return found;
}

/** The users file with these people and others, in JSON, which is also YAML. */
export async function usersFile(others: readonly Person[] = []): Promise<string> {
  const users = [...PEOPLE, ...others].map(async ({ name, password, email, groups, state }) => {
    const passwordHash = await hashOf(password);
    return { name, passwordHash, groups, state, ...(email ? { email } : {}) };
  });
  return JSON.stringify({ users: await Promise.all(users) });
}

/** The configuration for the cases. */
export const OBSERVED_CONFIG = {
  platform: 'kubesphere',
  authentication: {
    authenticateRateLimiterMaxTries: 10,
    authenticateRateLimiterDuration: '10m',
    addressRateLimiterMaxTries: 1000,
    oauthOptions: { clients: [CLIENTS.client, CLIENTS.client2] },
    tokenReview: { callerAuth: 'none' }, // as the server whose answers were recorded
  },
  users: { firstAdministrator: false },
} as const;

/** The RBAC of the cases: the group `admins` may do everything. */
export const ADMINS_BINDING = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'observed-admins' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'observed-admin' },
  subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'admins' }],
} as const;

export const ADMINS_ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'observed-admin' },
  rules: [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ],
} as const;
