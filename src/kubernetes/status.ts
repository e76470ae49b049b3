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
