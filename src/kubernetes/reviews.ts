import { type ApiClient, ClusterError } from './client/api-client.ts';

/** The subject of a SubjectAccessReview (`authorization.k8s.io/v1`). */
interface ReviewedSubject {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

type ReviewedAttributes =
  | { readonly resource: ReviewedResource }
  | { readonly nonResource: { readonly path: string; readonly verb: string } };

/** All members except the selectors are sent as they are. */
interface ReviewedResource {
  readonly verb: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

const ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** Asks the cluster whether a subject may do something. */
export class AccessReviews {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Rejects if there is no answer. Allowed means `allowed` without `denied`; `evaluationError` does not matter. */
  async review(subject: ReviewedSubject, attributes: ReviewedAttributes, signal: AbortSignal): Promise<boolean> {
    const asked =
      'resource' in attributes
        ? { resourceAttributes: toResourceAttributes(attributes.resource) }
        : { nonResourceAttributes: attributes.nonResource };
    const { name: user, uid, groups } = subject;
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, uid, groups, ...asked },
    };
    const response = await this.#client.json({ method: 'POST', path: ACCESS_REVIEWS, purpose: 'review', body }, signal);
    const { status } = (response.body ?? {}) as { status?: { allowed?: unknown; denied?: unknown } };
    if (response.status > 299 || typeof status?.allowed !== 'boolean')
      throw new ClusterError('an access review', response);
    return status.allowed && status.denied !== true;
  }
}

/** The cluster parses a raw selector like that of a request (`authorization.k8s.io/v1` FieldSelectorAttributes). */
function toResourceAttributes({ fieldSelector, labelSelector, ...attributes }: ReviewedResource): object {
  return {
    ...attributes,
    ...(fieldSelector && { fieldSelector: { rawSelector: fieldSelector } }),
    ...(labelSelector && { labelSelector: { rawSelector: labelSelector } }),
  };
}

/** The service account that the cluster reports for a token of its own. */
export interface ReviewedServiceAccount {
  /** `system:serviceaccount:<namespace>:<name>` */
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';

/** A namespace is a DNS label, a service account's name a DNS subdomain (RFC 1123). */
const SERVICE_ACCOUNT = /^system:serviceaccount:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?:[a-z0-9][a-z0-9.-]{0,252}$/;

/** Asks the cluster to whom a token belongs. */
export class TokenReviews {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /**
   * The service account of a token that was made for `audience`. `undefined` when the cluster does not know the token,
   * when it was made for others, or when it does not belong to a service account. Rejects when there is no answer.
   */
  async review(token: string, audience: string, signal: AbortSignal): Promise<ReviewedServiceAccount | undefined> {
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences: [audience] },
    };
    const response = await this.#client.json(
      { method: 'POST', path: TOKEN_REVIEWS, purpose: 'token_review', body },
      signal,
    );
    const { status } = (response.body ?? {}) as { status?: unknown };
    if (response.status > 299 || typeof status !== 'object' || status === null)
      throw new ClusterError('a token review', response);
    return toServiceAccount(status, audience);
  }
}

interface TokenReviewStatus {
  /** Omitted when false. */
  readonly authenticated?: unknown;
  readonly audiences?: unknown;
  readonly user?: { readonly username?: unknown; readonly uid?: unknown; readonly groups?: unknown } | null;
}

/**
 * Only our audience in the answer proves that the token was issued for us. If the answer has no audiences, the
 * authenticator does not know them, and the token was issued for the API server
 * (https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/).
 */
function toServiceAccount(status: TokenReviewStatus, audience: string): ReviewedServiceAccount | undefined {
  const { authenticated, audiences, user } = status;
  const isForUs = Array.isArray(audiences) && audiences.includes(audience);
  if (authenticated !== true || !isForUs || !user) return undefined;
  const { username, uid = '', groups = [] } = user;
  if (typeof username !== 'string' || !SERVICE_ACCOUNT.test(username)) return undefined;
  return typeof uid === 'string' && isTexts(groups) ? { username, uid, groups } : undefined;
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
