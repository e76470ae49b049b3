import { missingRightIn, retryAfterMs, type Status } from '../status.ts';

/**
 * How a list or a watch ended. The kinds are the classes of failure; `recovery.ts` alone decides how to react to each.
 * `detail` is for the log only.
 *
 * - `closed`: the server ended the stream cleanly; `quiet`: we ended it because it was silent; `aborted`: the signal aborted.
 * - `expired`: 410, the version or the continue token is no longer in the server's history.
 * - `too_large_version`: 504, the server has not reached the version that we know.
 * - `throttled`: 429; `refused`: no answer, or one that is no success (`missingRight`: 403); `reset`: cut off after the headers.
 * - `unreadable`: a line that is truncated, too long or no watch event, or an answer that is no list or longer than our
 *   limit (`isTooLong`); `stream_error`: an ERROR event of another code.
 * - `unsupported`: 400 or 422, the server does not know this kind of request.
 */
export type Failure =
  | {
      readonly kind: Exclude<FailureKind, 'throttled'>;
      readonly detail?: string;
      readonly isTooLong?: true;
      /** The right that we lack, in Kubernetes' words. `/readyz` shows it to everybody. */
      readonly missingRight?: string;
    }
  | { readonly kind: 'throttled'; readonly retryAfterMs: number; readonly detail?: string };

export const FAILURE_KINDS = [
  'closed',
  'quiet',
  'aborted',
  'expired',
  'too_large_version',
  'throttled',
  'refused',
  'reset',
  'unreadable',
  'stream_error',
  'unsupported',
] as const;

export type FailureKind = (typeof FAILURE_KINDS)[number];

/** The server checks our rights before anything else, so these ends show that we may list and watch the collection. */
const SHOW_THE_RIGHT: ReadonlySet<FailureKind> = new Set([
  'closed',
  'quiet',
  'expired',
  'too_large_version',
  'stream_error',
]);

/**
 * The right to the collection that we lack after a list or a watch ended with this failure. `before`: the one that we
 * lacked until then. It stays if the failure does not show whether we have it. The server may not have checked our rights
 * (no answer, 401, 429, 5xx), or something else was wrong.
 */
export function missingRightAfter(failure: Failure, before: string | undefined): string | undefined {
  if (failure.kind === 'refused') return failure.missingRight ?? before;
  return SHOW_THE_RIGHT.has(failure.kind) ? undefined : before;
}

/** Classifies an HTTP status other than 2xx. `retryAfter` is the header's text. */
export function failureOfResponse(status: Status, retryAfter: string | undefined): Failure {
  const refused = { kind: 'refused', detail: describe(status) } as const;
  const missingRight = missingRightIn(status);
  return classify(status, retryAfter) ?? (missingRight === undefined ? refused : { ...refused, missingRight });
}

/** Classifies the object of an ERROR event like an HTTP status: a 410 means the same in both. */
export function failureOfErrorEvent(status: Status): Failure {
  return classify(status, undefined) ?? { kind: 'stream_error', detail: describe(status) };
}

function classify(status: Status, retryAfter: string | undefined): Failure | undefined {
  const detail = describe(status);
  if (status.code === 410 || status.reason === 'Expired' || status.reason === 'Gone')
    return { kind: 'expired', detail };
  if (isTooLargeVersion(status)) return { kind: 'too_large_version', detail };
  if (status.code === 429) return { kind: 'throttled', retryAfterMs: retryAfterMs(status, retryAfter), detail };
  if (status.code === 400 || status.code === 422) return { kind: 'unsupported', detail };
  return undefined;
}

/** Since Kubernetes 1.18 the Status has a cause for it. Older servers only say it in the message (kubernetes/kubernetes#91073). */
const isTooLargeVersion = (status: Status): boolean =>
  status.causes.includes('ResourceVersionTooLarge') ||
  (status.code === 504 && status.message.includes('Too large resource version'));

const describe = (status: Status): string => `${status.code} ${status.reason} ${status.message}`.trim().slice(0, 500);
