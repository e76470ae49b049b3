import { PLAIN_WORDS } from '../kinds/words/kind-words.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';
import { type Entry, toEntry } from '../resources/entries/entry.ts';
import type { ObjectKind } from '../resources/entries/object-kind.ts';
import type { ListVocabulary } from '../resources/query/list-query.ts';
import type { TenantNames } from './tenant-names.ts';

/** Workspaces or their templates, which the cluster may lack. */
export interface WorkspaceKind extends ObjectKind, ListVocabulary {}

/** The two kinds by which clients know workspaces. Every workspace has a template of its name. */
export interface WorkspaceKinds {
  readonly workspaces: WorkspaceKind;
  readonly templates: WorkspaceKind;
}

export function workspaceKinds({ platform, group }: TenantNames): WorkspaceKinds {
  const common = { ...PLAIN_WORDS, platform, group, namespaced: false } as const;
  return {
    workspaces: { ...common, version: 'v1alpha1', resource: 'workspaces', kind: 'Workspace' },
    templates: { ...common, version: 'v1alpha2', resource: 'workspacetemplates', kind: 'WorkspaceTemplate' },
  };
}

/** No object of a cluster has this uid. */
const NO_UID = '00000000-0000-0000-0000-000000000000';

/**
 * The workspace of `tenant.defaultWorkspace`, which exists only in answers. It has no creation time, so it counts as the oldest one, and
 * no manager.
 */
export function madeUpWorkspace(name: string, kind: WorkspaceKind): Entry {
  const spec = kind.kind === 'Workspace' ? {} : { template: { spec: {} }, placement: {} };
  const object: KubernetesObject = { metadata: { name, uid: NO_UID, resourceVersion: '0' }, spec };
  return toEntry(object, kind);
}
