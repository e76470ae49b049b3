import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import type { CheckedEntry, ClusterRest, ContextEntry, KubeconfigContent, UserRest } from './kubeconfig-schema.ts';

/** An entry with the folder of its file: relative paths in the entry are relative to that folder. */
type Placed<T> = T & { readonly folder: string };

/** An entry as the client library reads it, with the members that the library does not read. A text that is not set is empty. */
export type LoadedCluster = Placed<Required<Cluster> & ClusterRest>;
export type LoadedUser = Placed<Required<User> & UserRest>;

/** The merged content of several files. If several files have an entry, the first one counts ("Organizing Cluster Access"). */
export interface MergedKubeconfig {
  readonly clusters: Map<string, Placed<CheckedEntry<ClusterRest>>>;
  readonly users: Map<string, Placed<CheckedEntry<UserRest>>>;
  readonly contexts: Map<string, Placed<ContextEntry>>;
  currentContext: string;
}

/** Adds the content of the next file, which is in `folder`. */
export function mergeKubeconfig(merged: MergedKubeconfig, content: KubeconfigContent, folder: string): void {
  addMissing(merged.clusters, content.clusters, folder);
  addMissing(merged.users, content.users, folder);
  addMissing(merged.contexts, content.contexts, folder);
  merged.currentContext ||= content.currentContext;
}

function addMissing<T extends object>(
  all: Map<string, Placed<T>>,
  entries: ReadonlyMap<string, T>,
  folder: string,
): void {
  for (const [name, entry] of entries) if (!all.has(name)) all.set(name, { ...entry, folder });
}

/** The entries of the current context. A context without a user has no credential. */
export interface Chosen {
  readonly context: ContextEntry;
  readonly cluster: LoadedCluster;
  readonly user: LoadedUser | undefined;
}

/** Finds the entries of the current context. Throws an `Error` that names a missing one. */
export async function chooseEntries({ clusters, users, contexts, currentContext }: MergedKubeconfig): Promise<Chosen> {
  if (currentContext === '') throw new Error('has no current context');
  const context = contexts.get(currentContext);
  if (!context) throw new Error(`has no context ${JSON.stringify(currentContext)}, which is its current one`);
  const cluster = context.cluster === '' ? undefined : clusters.get(context.cluster);
  if (!cluster) throw new Error(`has no cluster ${JSON.stringify(context.cluster)}`);
  if (cluster.rest.address === '') throw new Error(`has no server in its cluster ${JSON.stringify(context.cluster)}`);
  const user = users.get(context.user);
  if (context.user === '' && user) throw new Error('has a user without a name');
  if (context.user !== '' && !user) throw new Error(`has no user ${JSON.stringify(context.user)}`);
  return {
    context,
    cluster: await loadCluster(context.cluster, cluster),
    user: user && (await loadUser(context.user, user)),
  };
}

// This module of the client library, which only reads the entries, costs 5 ms and 5 MB. The class `KubeConfig` also loads the generated
// API classes, which cost 350 ms and 45 MB, and which we do not use.
const library = () => import('@kubernetes/client-node/dist/config_types.js');

async function loadCluster(name: string, entry: Placed<CheckedEntry<ClusterRest>>): Promise<LoadedCluster> {
  const [cluster] = (await library()).newClusters([{ name, cluster: entry.members }]);
  return { ...(cluster as Required<Cluster>), ...entry.rest, folder: entry.folder };
}

async function loadUser(name: string, entry: Placed<CheckedEntry<UserRest>>): Promise<LoadedUser> {
  const [user] = (await library()).newUsers([{ name, user: entry.members }]);
  // For an empty token the library reads `token-file`, which no other client does, and leaves the token undefined. So it is set again.
  return { ...(user as Required<User>), token: String(entry.members['token']), ...entry.rest, folder: entry.folder };
}
