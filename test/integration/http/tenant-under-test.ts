import { toRepresentation } from '../../../src/http/answer/document.ts';
import type { ServedTenant } from '../../../src/http/tenant/served-tenant.ts';
import { createNamespaceKind } from '../../../src/namespaces/namespace-kind.ts';
import { tenantNames } from '../../../src/tenant/tenant-names.ts';

/** Workspaces of a cluster without any, and without namespaces. */
export function tenantUnderTest(platform = 'gatehouse'): ServedTenant {
  return {
    names: tenantNames(platform),
    defaultWorkspace: undefined,
    namespaces: {
      kind: createNamespaceKind(platform),
      lister: { list: () => toRepresentation(Buffer.from('{"items":[],"totalItems":0}')), get: () => undefined },
      age: { staleSeconds: () => undefined },
      names: () => [],
      labelsOf: () => undefined,
    },
    scopes: { scopeOf: () => ({ id: 'none', names: new Set(), has: () => false }) },
    kinds: undefined,
    configuration: {
      features: { auditing: false, events: false, logging: false, multicluster: false },
      accessTokenMaxAge: 7_200_000_000_000,
      accessTokenInactivityTimeout: 1_800_000_000_000,
    },
    compareQuantities: () => undefined,
    subjectOf: (name) => ({ name, uid: '', groups: [] }),
  };
}
