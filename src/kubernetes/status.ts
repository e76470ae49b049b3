import type { StatusCause } from '../status-error.ts';

/** The part of `metav1.Status` that decides what to do next. Missing members are empty. */
export interface Status {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly string[];
  readonly retryAfterSeconds: number;
}

/** Reads a Status from JSON. For any other body (a proxy's error page) it has only the HTTP status. */
export function toStatus(body: unknown, httpStatus: number): Status {
  const status = asRecord(body);
  const details = asRecord(status['details']);
  return {
    code: typeof status['code'] === 'number' ? status['code'] : httpStatus,
    reason: asText(status['reason']),
    message: asText(status['message']),
    causes: toCauses(body).map(({ reason }) => reason),
    retryAfterSeconds: typeof details['retryAfterSeconds'] === 'number' ? details['retryAfterSeconds'] : 0,
  };
}

/** The causes of a Status in full. Those of a 422 name a field and what is wrong with it. Missing members are empty. */
export function toCauses(body: unknown): readonly Required<StatusCause>[] {
  const { causes } = asRecord(asRecord(body)['details']);
  if (!Array.isArray(causes)) return [];
  return causes.map(asRecord).map((cause) => ({
    reason: asText(cause['reason']),
    message: asText(cause['message']),
    field: asText(cause['field']),
  }));
}

/** Whether a 404 is about this very object. The cluster also answers 404 for a kind that it does not serve. */
export const isAbsence = (body: unknown, name: string): boolean => asRecord(asRecord(body)['details'])['name'] === name;

/** A quoted name: visible ASCII, and blanks, which names of users may have. */
const NAME = '"[ !#-~]{0,300}"';
/**
 * Kubernetes' own words in a 403, between `pods is forbidden: ` and what an authorizer adds:
 * https://github.com/kubernetes/kubernetes/blob/v1.34.0/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go
 */
const FORBIDDEN = new RegExp(
  `User ${NAME} cannot [a-z]+ (path ${NAME}|resource ${NAME} in API group ${NAME} (at the cluster scope|in the namespace ${NAME}))`,
);

/**
 * The right that we lack according to a 403; `undefined` for any other status. We may show it to everybody, so it has only
 * words of the known form from the answer.
 */
export function missingRightIn({ code, message }: Status): string | undefined {
  return code === 403 ? (FORBIDDEN.exec(message)?.[0] ?? 'the cluster answers 403') : undefined;
}

/**
 * These two find the name of a policy or a webhook by which the API server's admission refused a request. The status of a
 * policy may be 422, and that of a webhook that sets no code is 400:
 * https://github.com/kubernetes/kubernetes/blob/v1.34.0/staging/src/k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go
 */
const POLICY = /ValidatingAdmissionPolicy '([a-z0-9.:-]{1,253})' with binding /;
const WEBHOOK = /^admission webhook "([a-z0-9.-]{1,253})" denied the request/;

/**
 * What refuses us until somebody changes it: an admission policy or webhook (any 4xx), a missing right, or something unknown
 * (403). `undefined` for any other status. We may show the text to everybody, so it has only words of the known forms from
 * the answer.
 */
export function lastingRefusalOf(status: Status): string | undefined {
  const { code, message } = status;
  if (code < 400 || code > 499) return undefined;
  const [, policy] = POLICY.exec(message) ?? [];
  if (policy !== undefined)
    return `the ValidatingAdmissionPolicy "${policy}" of the cluster refuses it, and will until the policy is changed`;
  const [, webhook] = WEBHOOK.exec(message) ?? [];
  if (webhook !== undefined)
    return `the admission webhook "${webhook}" of the cluster refuses it, and will until the webhook is changed`;
  if (code !== 403) return undefined;
  const right = FORBIDDEN.exec(message)?.[0];
  return right === undefined ? 'the cluster refuses it (403)' : `a right is missing: ${right}`;
}

/**
 * Finds the API server's refusal of an impersonation. Its message begins with the resource of the right to impersonate. The
 * refusal of the impersonated user's request begins with the resource of that request.
 * https://github.com/kubernetes/kubernetes/blob/v1.34.0/staging/src/k8s.io/apiserver/pkg/endpoints/filters/impersonation.go
 */
const IMPERSONATION = new RegExp(
  `^(users|groups|serviceaccounts|uids|userextras)(\\.authentication\\.k8s\\.io)? (${NAME} )?is forbidden: User ${NAME} cannot impersonate `,
);

/**
 * Finds the same in the bytes of a body of any media type. The quotes of a JSON or YAML text are escaped. With constrained
 * impersonation the refusal may name the caller's request instead, with a verb such as `impersonate-on:user-info:get`. No
 * other refusal has such a verb.
 * https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/apiserver/pkg/endpoints/filters/impersonation/mode.go
 */
const IMPERSONATION_BYTES =
  /(?:(users|groups)(?:\.authentication\.k8s\.io)? \\?"([!#-[\]-~]{1,300})\\?" )?is forbidden: User \\?"[ !#-~\x80-\xff]{0,600}" cannot impersonate[a-z:-]* (?:resource|path) /;

/** Whether a 403 refuses the impersonation itself, and not the request of the impersonated user. */
export const isOfImpersonation = ({ code, message }: Status): boolean => code === 403 && IMPERSONATION.test(message);

/** The user or group that our account may not impersonate, as far as the API server names it. */
export interface RefusedImpersonation {
  /** Absent if the server refuses another part of the identity, or the caller's request (constrained impersonation). */
  readonly resource?: 'users' | 'groups' | undefined;
  readonly name?: string | undefined;
}

/** Finds a refused impersonation in the body of a 403, in any media type that the API server writes. */
export function refusedImpersonationIn(body: Buffer): RefusedImpersonation | undefined {
  const found = IMPERSONATION_BYTES.exec(body.toString('latin1'));
  if (!found) return undefined;
  const [, resource, name] = found;
  return { resource: resource as RefusedImpersonation['resource'], name };
}

/** The longest wait that we grant a server. After 5 min without an attempt a reflector would count as dead (I8). */
const LONGEST_RETRY_AFTER_MS = 240_000;

/**
 * How long the server asks us to wait. The header counts in whole seconds (RFC 9110 10.2.3). A date, which the
 * Kubernetes API never sends, counts as absent.
 */
export function retryAfterMs(status: Status, header: string | undefined): number {
  const seconds = header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : status.retryAfterSeconds;
  return Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, seconds) * 1000);
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
