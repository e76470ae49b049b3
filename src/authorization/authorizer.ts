/** The caller, as an access review names it. Never changes, so caches may keep what they derive from it. */
export interface Subject {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

/** The requested action: one request line, read by the rules of Kubernetes' request info. */
export type RequestAttributes =
  | { readonly resource: ResourceAttributes }
  | { readonly nonResource: { readonly path: string; readonly verb: string } };

/** `authorization.k8s.io/v1` ResourceAttributes; absent members are empty. */
export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The caller's own text. An authorizer of Kubernetes 1.31 and newer may allow a request because of its selector. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/**
 * `source` says where the answer came from: a known one, a new review, or a known one past its lifetime while the
 * cluster does not answer.
 */
export interface Decision {
  readonly allowed: boolean;
  readonly source: 'cache' | 'review' | 'stale' | 'always_allow';
}

/**
 * Decides whether a caller may do something. Returns a known answer at once, any other as a promise. The promise rejects
 * with a `StatusError`: 503 if the cluster gives no answer, 429 if this caller, or all callers together, need more reviews
 * than may be open at a time.
 * @example
 * ```ts
 * const onlyReads: Authorizer = {
 *   authorize: (_subject, attributes) => {
 *     const { verb } = 'resource' in attributes ? attributes.resource : attributes.nonResource;
 *     return { allowed: ['get', 'list', 'watch'].includes(verb), source: 'always_allow' };
 *   },
 * };
 *
 * const ada = { name: 'ada', uid: 'u-1', groups: [] };
 * const nodes = { group: '', version: 'v1', resource: 'nodes' };
 * const list = await onlyReads.authorize(ada, { resource: { ...nodes, verb: 'list' } });
 * const removal = await onlyReads.authorize(ada, { resource: { ...nodes, verb: 'delete' } });
 * assert.deepEqual([list.allowed, removal.allowed], [true, false]);
 * ```
 */
export interface Authorizer {
  authorize(subject: Subject, attributes: RequestAttributes): Decision | Promise<Decision>;
}

/** An authorizer that remembers answers and can forget those about a user whose rights have changed. */
export interface ForgetfulAuthorizer extends Authorizer {
  /** Forgets the answers about users of this name, so that the next question about them goes to the cluster. */
  forget(user: string): void;
}

/** Makes one SubjectAccessReview. Rejects when there is no answer, with an `Error & CallFault`. */
export interface AccessReviewer {
  review(subject: Subject, attributes: RequestAttributes, signal: AbortSignal): Promise<boolean>;
}
