import { type ApiClient, ClusterError } from './client/api-client.ts';

/** The `spec` of a SubjectAccessReview, `authorization.k8s.io/v1`, in the callers' words. */
interface ReviewedSubject {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

type ReviewedAttributes =
  | { readonly resource: object }
  | { readonly nonResource: { readonly path: string; readonly verb: string } };

const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** Asks the cluster whether a subject may do something. */
export class AccessReviews {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Rejects when there is no answer. Only `allowed` without `denied` allows; `evaluationError` does not matter. */
  async review(subject: ReviewedSubject, attributes: ReviewedAttributes, signal: AbortSignal): Promise<boolean> {
    const asked =
      'resource' in attributes
        ? { resourceAttributes: attributes.resource }
        : { nonResourceAttributes: attributes.nonResource };
    const { name: user, uid, groups } = subject;
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, uid, groups, ...asked },
    };
    const response = await this.#client.json({ method: 'POST', path: PATH, purpose: 'review', body }, signal);
    const { status } = (response.body ?? {}) as { status?: { allowed?: unknown; denied?: unknown } };
    if (response.status > 299 || typeof status?.allowed !== 'boolean')
      throw new ClusterError('an access review', response);
    return status.allowed && status.denied !== true;
  }
}
