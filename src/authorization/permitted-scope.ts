import type { Subject } from './authorizer.ts';

/** A right that is asked for in one namespace after the other. */
export interface NamespacedRight {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
}

/** The namespaces in which a subject has a right. Never changes; when the rights do, another scope takes its place. */
export interface PermittedScope {
  /** Equal for equal sets of namespaces, on every replica. A namespace that was deleted and made again is another one. */
  readonly id: string;
  readonly names: ReadonlySet<string>;
  has(namespace: string): boolean;
}

/**
 * Works out in which namespaces a subject has a right, by the cluster's access reviews, and remembers the answer for as long as single
 * decisions are remembered.
 */
export interface PermittedScopes {
  /**
   * The present scope, at once if it is known. The object stays the same while the set of namespaces does. Rejects with a `StatusError`
   * when a decision is missing; the scope is never smaller instead.
   */
  scopeOf(subject: Subject, right: NamespacedRight, signal: AbortSignal): PermittedScope | Promise<PermittedScope>;
}
