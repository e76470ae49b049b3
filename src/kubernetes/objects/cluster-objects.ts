import type { KubernetesObject } from '../object.ts';

/** An object to create: the server gives it uid and version. */
export interface NewObject {
  readonly metadata: { readonly name: string; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
}

/** The user that a write impersonates. */
export interface Impersonated {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface WriteOptions {
  /** The cluster decides by this user's rights, not by ours. Absent: by ours. */
  readonly as?: Impersonated | undefined;
  /** The cluster checks everything and stores nothing (`dryRun=All`). */
  readonly dryRun?: boolean;
}

export interface ListOptions {
  /**
   * The API server may answer from its watch cache, which may lack writes of a moment ago. Use it for objects that are only
   * displayed. Before 1.31 the server answers other lists from etcd, at a cost that grows with the whole collection.
   */
  readonly mayBeOld?: boolean;
}

/** What the stored object must match to be removed; otherwise the removal is a conflict (`metav1.Preconditions`). */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/**
 * One collection of the cluster, read and written object by object. Each call rejects with `ClusterError` when the
 * cluster refuses, and with another error when it cannot be reached or does not answer within 10 s.
 */
export interface ClusterObjects {
  /** The newest state, never one from a cache. `undefined` if there is no such object. */
  get(name: string): Promise<KubernetesObject | undefined>;
  /**
   * All objects that the label selector selects. They include every write that was answered before the call, unless
   * `mayBeOld` is set.
   */
  list(labelSelector: string, options?: ListOptions): Promise<readonly KubernetesObject[]>;
  create(object: NewObject, options?: WriteOptions): Promise<KubernetesObject>;
  /** A compare-and-swap, by the object's `metadata.resourceVersion`. */
  replace(object: KubernetesObject, options?: WriteOptions): Promise<KubernetesObject>;
  /** A merge patch (RFC 7386) of the object or of its status. With `metadata.resourceVersion` in it: a compare-and-swap. */
  patch(
    name: string,
    patch: object,
    options?: WriteOptions & { readonly subresource?: 'status' },
  ): Promise<KubernetesObject>;
  /** `absent`: there was no such object. An object with finalizers is removed later. */
  remove(name: string, preconditions?: Preconditions, options?: WriteOptions): Promise<'removed' | 'absent'>;
}

/** A collection whose objects are read with the right to `list`, by an account that may not `get`. */
export interface ListedObjects {
  /** As `get` of `ClusterObjects`, by a list of this name, which the API server looks up by its key. */
  find(name: string): Promise<KubernetesObject | undefined>;
}

/** Names a collection: `iam.<platform>.io`, `v1alpha2`, `users`. */
export interface ObjectCollection {
  /** `''`: the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
  /** The purpose of the requests in the metrics. Default: `objects`. */
  readonly purpose?: 'objects_of_kinds';
}
