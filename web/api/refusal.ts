/** Why a call brought no answer that can be shown. */
export interface Refusal {
  /** The HTTP status; 0: no answer came. */
  readonly status: number;
  /** The reason of the Kubernetes Status, such as `Forbidden`. */
  readonly reason: string;
  readonly message: string;
  /** What was called. */
  readonly method: string;
  readonly path: string;
  /** How long the server asks to wait. */
  readonly retryAfterSeconds?: number | undefined;
  /** The faults of single parameters or fields. */
  readonly causes: readonly { readonly field: string; readonly message: string }[];
}

interface StatusBody {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly error?: string;
  readonly error_description?: string;
  readonly details?: {
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly field?: string; readonly message?: string }[];
  };
}

/** Reads the refusal of an answer: a Kubernetes Status, an error of OAuth (RFC 6749 5.2), or a text. */
export function refusalOf(
  call: { readonly method: string; readonly path: string },
  { status, headers }: { readonly status: number; readonly headers: Headers },
  text: string,
): Refusal {
  const body = statusOf(text);
  const wait = Number(headers.get('Retry-After') ?? body.details?.retryAfterSeconds);
  return {
    ...call,
    status,
    reason: body.reason ?? body.error ?? '',
    message: body.message ?? body.error_description ?? (text.trim().slice(0, 500) || `HTTP ${status}`),
    retryAfterSeconds: Number.isFinite(wait) && wait > 0 ? wait : undefined,
    causes: (body.details?.causes ?? []).map(({ field = '', message = '' }) => ({ field, message })),
  };
}

function statusOf(text: string): StatusBody {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as StatusBody) : {};
  } catch {
    return {};
  }
}

/** The refusal of a call that no answer came for, or that broke in the middle. */
export const away = (call: { readonly method: string; readonly path: string }, error: unknown): Refusal => ({
  ...call,
  status: 0,
  reason: 'Away',
  message: String((error as Error)?.message ?? error),
  causes: [],
});

/** Whether the same call may bring an answer later, without anybody changing anything. */
export const mayPass = ({ status }: Refusal): boolean => status === 0 || status === 429 || status >= 500;
