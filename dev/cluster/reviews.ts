import type { Clock } from '../../src/runtime/clock.ts';
import { type Answer, json } from './answer.ts';
import type { Identity } from './identity.ts';
import { apiVersionOf, type ResourceKind } from './kinds.ts';
import { isRecord } from './kube-object.ts';
import type { Decision, SubjectAccessReviewSpec } from './rbac.ts';
import { type ApiError, invalid } from './status.ts';
import { timestamp } from './timestamp.ts';
import { type TokenReviewParts, tokenStatus } from './token-reviews.ts';

interface ReviewParts extends TokenReviewParts {
  readonly clock: Clock;
  readonly caller: Identity;
  readonly decide: (spec: SubjectAccessReviewSpec) => Decision;
}

/** Answers a posted review with its status filled in; nothing is stored. */
export function review(kind: ResourceKind, body: Record<string, unknown>, parts: ReviewParts): Answer {
  if (kind.plural === 'selfsubjectreviews') return selfReview(kind, parts);
  const spec = isRecord(body['spec']) ? body['spec'] : {};
  const status = kind.plural === 'tokenreviews' ? tokenStatus(spec, parts) : accessStatus(kind, spec, parts);
  return json({ kind: kind.kind, apiVersion: apiVersionOf(kind), metadata: {}, spec, status }, 201);
}

/** Who the caller is, as the server understood it: after impersonation. */
function selfReview(kind: ResourceKind, { caller, clock }: ReviewParts): Answer {
  const metadata = { creationTimestamp: timestamp(clock.now()) };
  const review = { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata, status: { userInfo: caller } };
  return json(review, 201);
}

function accessStatus(kind: ResourceKind, spec: SubjectAccessReviewSpec, { caller, decide }: ReviewParts): Decision {
  const self = kind.plural === 'selfsubjectaccessreviews';
  if (!spec.resourceAttributes === !spec.nonResourceAttributes)
    throw incomplete(
      'spec.resourceAttributes',
      'null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    );
  if (self) return decide({ ...spec, user: caller.username, groups: caller.groups });
  if (!spec.user && !spec.groups?.length)
    throw incomplete('spec.user', '"": at least one of user or group must be specified');
  return decide(spec);
}

/**
 * The validation of a real server does not know the kind here, so neither the text before the group nor the details
 * have one.
 */
const incomplete = (field: string, problem: string): ApiError =>
  invalid({ group: 'authorization.k8s.io', kind: '', name: '' }, [
    { field, reason: 'FieldValueInvalid', message: `Invalid value: ${problem}` },
  ]);
