import type { Shape } from '../resources/query/filter.ts';
import { type FilterTerm, toFilterTerm } from '../resources/query/list-query.ts';
import type { TenantNames } from './tenant-names.ts';

/** What of a namespace tells its workspace. */
type Labelled = Pick<Shape, 'labels'>;

/**
 * Which namespaces belong to a workspace: those with its name in their label; to the default workspace also those without the label. 3.4
 * removes the label by setting it to an empty text, which counts as none.
 */
export function belongsTo(
  workspace: string,
  { workspaceLabel }: TenantNames,
  defaultWorkspace: string | undefined,
): (namespace: Labelled) => boolean {
  const own = workspace === defaultWorkspace ? new Set([workspace, '']) : new Set([workspace]);
  return ({ labels }) => own.has(labels?.[workspaceLabel] ?? '');
}

/** Makes a condition of a list of it. */
export const inWorkspace = (workspace: string, names: TenantNames, defaultWorkspace: string | undefined): FilterTerm =>
  toFilterTerm(belongsTo(workspace, names, defaultWorkspace), ' workspace', workspace);
