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
  const causes = Array.isArray(details['causes']) ? details['causes'] : [];
  return {
    code: typeof status['code'] === 'number' ? status['code'] : httpStatus,
    reason: asText(status['reason']),
    message: asText(status['message']),
    causes: causes.map((cause) => asText(asRecord(cause)['reason'])),
    retryAfterSeconds: typeof details['retryAfterSeconds'] === 'number' ? details['retryAfterSeconds'] : 0,
  };
}

/** Visible ASCII, and blanks in names of users. */
const NAME = '"[ !#-~]{0,300}"';
/**
 * Kubernetes' own words in a 403, between `pods is forbidden: ` and what an authorizer adds:
 * https://github.com/kubernetes/kubernetes/blob/v1.34.0/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go
 */
const FORBIDDEN = new RegExp(
  `User ${NAME} cannot [a-z]+ (path ${NAME}|resource ${NAME} in API group ${NAME} (at the cluster scope|in the namespace ${NAME}))`,
);

/**
 * The right that a 403 says we lack; `undefined` for any other status. It may be shown to everybody, so only words of the
 * known form are taken from the answer.
 */
export function missingRightIn({ code, message }: Status): string | undefined {
  return code === 403 ? (FORBIDDEN.exec(message)?.[0] ?? 'the cluster answers 403') : undefined;
}

/** Stays below the 5 min without an attempt after which a reflector counts as dead (I8), whatever a server asks for. */
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
