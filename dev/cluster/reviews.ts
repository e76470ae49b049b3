import type { Clock } from '../../src/runtime/clock.ts';
import { type Answer, json } from './answer.ts';
import type { Identity } from './identity.ts';
import { apiVersionOf, type ResourceKind } from './kinds.ts';
import { isRecord } from './kube-object.ts';
import type { Decision, SubjectAccessReviewSpec } from './rbac.ts';
import { type ApiError, type InvalidField, invalid } from './status.ts';
import { timestamp } from './timestamp.ts';
import { type TokenReviewParts, tokenStatus } from './token-reviews.ts';

interface ReviewParts extends TokenReviewParts {
  readonly clock: Clock;
  readonly caller: Identity;
  readonly decide: (spec: SubjectAccessReviewSpec) => Decision;
}

/** Answers a posted review with its status. Nothing is stored. */
export function review(kind: ResourceKind, body: Record<string, unknown>, parts: ReviewParts): Answer {
  if (kind.plural === 'selfsubjectreviews') return selfReview(kind, parts);
  const spec = withoutEmpty(isRecord(body['spec']) ? body['spec'] : {}) as Record<string, unknown>;
  const status = kind.plural === 'tokenreviews' ? tokenStatus(spec, parts) : accessStatus(kind, spec, parts);
  return json({ kind: kind.kind, apiVersion: apiVersionOf(kind), metadata: {}, spec, status }, 201);
}

/** Removes empty texts and lists, which Go leaves out (`omitempty`). */
function withoutEmpty(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const isEmpty = (member: unknown): boolean => member === '' || (Array.isArray(member) && member.length === 0);
  const members = Object.entries(value).filter(([, member]) => !isEmpty(member));
  return Object.fromEntries(members.map(([name, member]) => [name, withoutEmpty(member)]));
}

/** Answers with the identity of the caller, after impersonation. */
function selfReview(kind: ResourceKind, { caller, clock }: ReviewParts): Answer {
  const metadata = { creationTimestamp: timestamp(clock.now()) };
  const review = { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata, status: { userInfo: caller } };
  return json(review, 201);
}

function accessStatus(kind: ResourceKind, spec: SubjectAccessReviewSpec, { caller, decide }: ReviewParts): Decision {
  const self = kind.plural === 'selfsubjectaccessreviews';
  const problems = [
    ...(!spec.resourceAttributes === !spec.nonResourceAttributes ? [NOT_ONE] : []),
    ...(self || spec.user || spec.groups?.length ? [] : [NOBODY]),
  ];
  if (problems.length > 0) throw incomplete(problems);
  return decide(self ? { ...spec, user: caller.username, groups: caller.groups } : spec);
}

const NOT_ONE: InvalidField = {
  field: 'spec.resourceAttributes',
  reason: 'FieldValueInvalid',
  message: 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
};
const NOBODY: InvalidField = {
  field: 'spec.user',
  reason: 'FieldValueInvalid',
  message: 'Invalid value: "": at least one of user or group must be specified',
};

/**
 * In a real server this validation does not know the kind, so the message and the details have none.
 */
const incomplete = (problems: readonly InvalidField[]): ApiError =>
  invalid({ group: 'authorization.k8s.io', kind: '', name: '' }, problems);
