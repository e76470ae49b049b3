import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import type { CheckedEntry, ClusterRest, ContextEntry, KubeconfigContent, UserRest } from './kubeconfig-schema.ts';

/** Something with the folder of its file, to which its paths are relative. */
type Placed<T> = T & { readonly folder: string };

/** An entry as the client library has it, plus the members that the library does not know. A text that is not set is empty. */
export type LoadedCluster = Placed<Required<Cluster> & ClusterRest>;
export type LoadedUser = Placed<Required<User> & UserRest>;

/** The content of several files. The first file to name a thing wins ("Organizing Cluster Access"). */
export interface MergedKubeconfig {
  readonly clusters: Map<string, Placed<CheckedEntry<ClusterRest>>>;
  readonly users: Map<string, Placed<CheckedEntry<UserRest>>>;
  readonly contexts: Map<string, Placed<ContextEntry>>;
  currentContext: string;
}

/** Adds the next file, which is in `folder`. */
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

/** The three entries of the current context. A context without a user is one without a credential. */
export interface Chosen {
  readonly context: ContextEntry;
  readonly cluster: LoadedCluster;
  readonly user: LoadedUser | undefined;
}

/** Throws an `Error` that names the missing entry. */
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

// The schema module of the client library's KubeConfig costs 5 ms and 5 MB. The class itself also loads the generated
// API classes: 350 ms and 45 MB that a server which makes plain requests never uses.
const library = () => import('@kubernetes/client-node/dist/config_types.js');

async function loadCluster(name: string, entry: Placed<CheckedEntry<ClusterRest>>): Promise<LoadedCluster> {
  const [cluster] = (await library()).newClusters([{ name, cluster: entry.members }]);
  return { ...(cluster as Required<Cluster>), ...entry.rest, folder: entry.folder };
}

async function loadUser(name: string, entry: Placed<CheckedEntry<UserRest>>): Promise<LoadedUser> {
  const [user] = (await library()).newUsers([{ name, user: entry.members }]);
  // The library looks for the token of an empty one in `token-file`, which no other client reads, and leaves nothing.
  return { ...(user as Required<User>), token: String(entry.members['token']), ...entry.rest, folder: entry.folder };
}
