import { signal } from '@preact/signals';
import { settings } from '../app/settings.ts';
import { away, type Refusal, refusalOf } from './refusal.ts';

export type Outcome<T> =
  | { readonly ok: true; readonly value: T; readonly headers: Headers }
  /** An answer that is none of these has headers too: a 304 says how old the data is. Without any answer there are none. */
  | { readonly ok: false; readonly refusal: Refusal; readonly headers?: Headers };

/** How old the data of an answer was when the server gave it, in seconds. */
export const ageIn = (headers: Headers | undefined): number => Number(headers?.get('Age') ?? 0);

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  /** Default: JSON. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Whether the server has said that the session is over. The shell then leads to the sign-in page. */
export const sessionHasEnded = signal(false);

/** After this time a reader wants to know what is being waited for, and for how long (W-13). */
export const SLOW_MS = 5_000;

/** An answer that has not come after this time is taken as lost, so that nothing waits for ever: the server itself answers within 30 s. */
const LIMIT_MS = 40_000;

/**
 * Calls the API with the session of this browser, and resolves to the answer as it is. Nothing of it stays in the browser's cache, because
 * another person may use the browser next.
 */
export function send(
  path: string,
  { method = 'GET', body, contentType, headers = {}, signal }: Call = {},
): Promise<Response> {
  return fetch(path, {
    method,
    cache: 'no-store',
    credentials: 'same-origin',
    redirect: 'error',
    headers: {
      Accept: 'application/json',
      [`X-${settings().platform}-Page`]: '1',
      ...(body === undefined ? {} : { 'Content-Type': contentType ?? 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
}

/** Calls the API, and reads the JSON of the answer. Never rejects, except when its own signal aborts. */
export async function call<T>(path: string, options: Call = {}): Promise<Outcome<T>> {
  const outcome = await callText(path, options);
  if (!outcome.ok) return outcome;
  try {
    return { ...outcome, value: (outcome.value === '' ? undefined : JSON.parse(outcome.value)) as T };
  } catch (error) {
    return { ok: false, refusal: away({ method: options.method ?? 'GET', path }, error) };
  }
}

/** Calls the API, and reads the text of the answer. Never rejects, except when its own signal aborts. */
export async function callText(path: string, options: Call = {}): Promise<Outcome<string>> {
  const called = { method: options.method ?? 'GET', path };
  const limit = AbortSignal.timeout(LIMIT_MS);
  try {
    const until = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
    const answer = await send(path, { ...options, signal: until });
    const text = await answer.text();
    if (!answer.ok) return { ok: false, refusal: noted(refusalOf(called, answer, text)), headers: answer.headers };
    return { ok: true, value: text, headers: answer.headers };
  } catch (error) {
    if (options.signal?.aborted) throw error;
    return { ok: false, refusal: away(called, error) };
  }
}

/** Notes a session that has ended. */
export function noted(refusal: Refusal): Refusal {
  if (refusal.status === 401) sessionHasEnded.value = true;
  return refusal;
}
