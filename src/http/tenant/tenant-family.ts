import type { RouteFamily } from '../family.ts';
import { componentRoutes } from './component-routes.ts';
import { configurationRoutes } from './configuration-routes.ts';
import { memberRoleRoutes } from './member-role-routes.ts';
import { namespaceRoutes } from './namespace-routes.ts';
import { overviewRoutes } from './overview-routes.ts';
import { createHeldIfThere, type ServedTenant } from './served-tenant.ts';
import { workspaceRoutes } from './workspace-routes.ts';

/** Workspaces and who is in them, and what else the console of KubeSphere 3.4 reads on its way to its first pages. */
export const tenantFamily =
  (served: ServedTenant): RouteFamily =>
  (tools) => {
    const parts = { ...tools, ...served, heldIfThere: createHeldIfThere(served.kinds) };
    return {
      routes: [
        ...workspaceRoutes(parts),
        ...namespaceRoutes(parts),
        ...memberRoleRoutes(parts),
        ...overviewRoutes(parts),
        ...componentRoutes(parts),
        ...configurationRoutes(parts),
      ],
    };
  };
