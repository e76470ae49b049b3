import type { Clock } from '../../src/runtime/clock.ts';
import { type Answer, json } from './answer.ts';
import type { Identity } from './identity.ts';
import { apiVersionOf, type ResourceKind } from './kinds.ts';
import { isRecord } from './kube-object.ts';
import type { ObjectStore } from './object-store.ts';
import { type Decision, type PolicyRule, rulesOf, type SubjectAccessReviewSpec } from './rbac.ts';
import { type ApiError, badRequest, type InvalidField, invalid } from './status.ts';
import { timestamp } from './timestamp.ts';
import { type TokenReviewParts, tokenStatus } from './token-reviews.ts';

interface ReviewParts extends TokenReviewParts {
  readonly clock: Clock;
  readonly caller: Identity;
  readonly decide: (spec: SubjectAccessReviewSpec) => Decision;
  readonly store: ObjectStore;
}

/** Answers a posted review with its status. Nothing is stored. */
export function review(kind: ResourceKind, body: Record<string, unknown>, parts: ReviewParts): Answer {
  if (kind.plural === 'selfsubjectreviews') return selfReview(kind, parts);
  if (kind.plural === 'selfsubjectrulesreviews') return rulesReview(kind, body, parts);
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

/** Answers with the rules that the caller has in a namespace, as `kubectl auth can-i --list` shows them. The question is not repeated. */
function rulesReview(kind: ResourceKind, body: Record<string, unknown>, { store, caller }: ReviewParts): Answer {
  const { namespace } = isRecord(body['spec']) ? body['spec'] : {};
  if (typeof namespace !== 'string' || namespace === '') throw badRequest('no namespace on request');
  const rules = [...(caller.groups.includes('system:masters') ? EVERYTHING : []), ...rulesOf(store, caller, namespace)];
  const status = {
    resourceRules: rules.flatMap(({ verbs, apiGroups, resources, resourceNames }) =>
      resources?.length ? [withoutEmpty({ verbs, apiGroups, resources, resourceNames })] : [],
    ),
    nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs }) =>
      nonResourceURLs?.length ? [{ verbs, nonResourceURLs }] : [],
    ),
    incomplete: false,
  };
  return json({ kind: kind.kind, apiVersion: apiVersionOf(kind), metadata: {}, spec: {}, status }, 201);
}

/** `cluster-admin`, which a real server binds to `system:masters`. */
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

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
