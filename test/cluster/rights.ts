const RBAC = 'rbac.authorization.k8s.io';

/** A rule of a role; with a name, for the object of that name alone. */
export const rule = (apiGroup: string, resource: string, verbs: readonly string[], name?: string): object => ({
  ...{ apiGroups: [apiGroup], resources: [resource], verbs },
  ...(name && { resourceNames: [name] }),
});

/** A role of this name with these rules, given to the subject in the namespace, or everywhere where there is none. */
export function rights(name: string, rules: readonly object[], subject: object, namespace?: string): object[] {
  const [kind, metadata] = [namespace ? 'Role' : 'ClusterRole', { name, ...(namespace && { namespace }) }];
  const apiVersion = `${RBAC}/v1`;
  const roleRef = { apiGroup: RBAC, kind, name };
  return [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects: [subject] },
  ];
}

export const user = (name: string): object => ({ kind: 'User', apiGroup: RBAC, name });
