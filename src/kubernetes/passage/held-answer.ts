import { constants, gunzipSync } from 'node:zlib';
import { type RefusedImpersonation, refusedImpersonationIn } from '../status.ts';
import type { PassedAnswer } from './passed-call.ts';

/** The refusal of an impersonation is a Status of some hundred bytes, with the names of our account and of the user. */
const LONGEST_REFUSAL = 16 * 1024;

interface Held {
  readonly headers: readonly string[];
  readonly chunks: Buffer[];
  bytes: number;
}

/**
 * Passes an answer on as it comes, except two answers that are about our own account and must not reach the caller. One is a
 * 401: the server does not accept our credential. The other is the 403 by which the server refuses to let our account
 * impersonate the caller. Every 403 is held back until it is clear whether it is that refusal.
 */
export class HeldAnswer implements PassedAnswer {
  readonly #answer: PassedAnswer;
  readonly #begun: (status: number) => void;
  #held: Held | undefined;
  #hasBegun = false;
  #fault: 'credential' | 'impersonation' | undefined;
  #refused: RefusedImpersonation | undefined;

  /** `begun` is called with the status of every answer, as it begins. */
  constructor(answer: PassedAnswer, begun: (status: number) => void) {
    this.#answer = answer;
    this.#begun = begun;
  }

  /** What was wrong with our own account, if the answer was about it. Known when the answer has ended. */
  get fault(): 'credential' | 'impersonation' | undefined {
    return this.#fault;
  }

  /** Whom our account may not impersonate. Known when the fault is `impersonation`. */
  get refused(): RefusedImpersonation | undefined {
    return this.#refused;
  }

  /** Whether the server has answered, even if the answer was not passed on. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  start(status: number, headers: readonly string[]): void {
    this.#hasBegun = true;
    this.#begun(status);
    if (status === 401) this.#fault = 'credential';
    else if (status === 403) this.#held = { headers, chunks: [], bytes: 0 };
    else this.#answer.start(status, headers);
  }

  data(chunk: Buffer): Promise<void> | undefined {
    if (this.#fault) return undefined;
    const held = this.#held;
    if (!held) return this.#answer.data(chunk);
    held.chunks.push(chunk);
    held.bytes += chunk.length;
    if (held.bytes <= LONGEST_REFUSAL) return undefined;
    // The first words are enough to recognize the refusal: the reasons of an authorizer, which follow, may be long.
    if (!this.#isRefusal(held)) return this.#release(held);
    this.#held = undefined;
    return undefined;
  }

  /** Called when the answer has ended. */
  end(): void {
    const held = this.#held;
    if (held && !this.#isRefusal(held)) void this.#release(held);
  }

  #isRefusal(held: Held): boolean {
    this.#refused = refusedImpersonationIn(textOf(held));
    if (this.#refused) this.#fault = 'impersonation';
    return this.#refused !== undefined;
  }

  #release({ headers, chunks }: Held): Promise<void> | undefined {
    this.#held = undefined;
    this.#answer.start(403, headers);
    return chunks.length > 0 ? this.#answer.data(Buffer.concat(chunks)) : undefined;
  }
}

/**
 * The body, or its beginning. Decompresses it if need be: callers may ask for gzip, and a proxy in front of the API server
 * may grant it.
 */
function textOf({ headers, chunks }: Held): Buffer {
  const body = Buffer.concat(chunks);
  const isPacked = headers.some((value, at) => at % 2 === 1 && /gzip/i.test(value) && isCoding(headers[at - 1]));
  if (!isPacked) return body;
  try {
    return gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 8 * LONGEST_REFUSAL });
  } catch {
    return body;
  }
}

const isCoding = (name: string | undefined): boolean => name?.toLowerCase() === 'content-encoding';
