import { type Json, unique } from './api-client.ts';
import type { Suite } from './suite.ts';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';
export const RBAC = `/apis/${RBAC_GROUP}/v1`;

/** The headers with which the administrator impersonates this user. */
export const as = (user: string, groups: string[] = []): { readonly headers: Record<string, string | string[]> } => ({
  headers: { 'impersonate-user': user, ...(groups.length > 0 && { 'impersonate-group': groups }) },
});

export const bindingOf = (role: string, user: string): Json => ({
  metadata: { name: unique('binding') },
  roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: RBAC_GROUP, kind: 'User', name: user }],
});

/** RBAC sees new bindings by a watch, so a new one takes effect a moment later. */
const ATTEMPTS = 5_000;

/** Makes a ClusterRole with these rules, and resolves to its name. */
export async function newRole({ api }: Suite, rules: readonly Json[]): Promise<string> {
  const name = unique('role');
  await api.create(`${RBAC}/clusterroles`, { metadata: { name }, rules });
  return name;
}

/** Grants the user these rights. Resolves when the server applies them; `probe` is one of them. */
export async function grant(suite: Suite, user: string, rules: readonly Json[], probe: Json): Promise<void> {
  const role = await newRole(suite, rules);
  await suite.api.create(`${RBAC}/clusterrolebindings`, bindingOf(role, user));
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
  const spec = { user, resourceAttributes: probe };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    if ((await suite.api.create(path, { ...review, spec })).status.allowed) return;
  }
  throw new Error(`${user} was not given ${JSON.stringify(probe)}`);
}
