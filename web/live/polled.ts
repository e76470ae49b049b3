import { signal } from '@preact/signals';
import { ageIn, call } from '../api/call.ts';
import type { Refusal } from '../api/refusal.ts';
import { BackOff } from './back-off.ts';
import { isVisible } from './stream-turn.ts';

/** One answer of the API that is asked for again while somebody sees the page. What was there stays when a later answer does not come. */
export class Polled<T> {
  readonly value = signal<T | undefined>(undefined);
  readonly refusal = signal<Refusal | undefined>(undefined);
  readonly age = signal(0);
  readonly #path: string;
  readonly #everyMs: number;
  readonly #backOff = new BackOff();
  readonly #stop = new AbortController();
  #tag: string | null = null;
  /** A page that opens behind another one has its first answer when somebody comes to it. */
  #isAnswered = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isAsking = false;
  /** Whether somebody wants an answer that is newer than the one that is being asked for. */
  #isWanted = false;

  constructor(path: string, everyMs = 10_000) {
    this.#path = path;
    this.#everyMs = everyMs;
    void this.#read();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  /** Asks now, or as soon as the present question is answered. */
  again(): void {
    clearTimeout(this.#timer);
    if (this.#isAsking) this.#isWanted = true;
    else void this.#read();
  }

  async #read(): Promise<void> {
    let waitMs = this.#everyMs;
    this.#isAsking = true;
    try {
      if (isVisible.value || !this.#isAnswered) waitMs = await this.#ask();
    } catch {
      return; // closed
    } finally {
      this.#isAsking = false;
    }
    if (this.#isWanted) waitMs = 0;
    this.#isWanted = false;
    if (!this.#stop.signal.aborted) this.#timer = setTimeout(() => void this.#read(), waitMs);
  }

  /** Resolves to the time until the next question. */
  async #ask(): Promise<number> {
    const headers = this.#tag === null ? {} : { 'If-None-Match': this.#tag };
    const outcome = await call<T>(this.#path, { headers, signal: this.#stop.signal });
    this.#isAnswered = true;
    if (outcome.ok) {
      this.#tag = outcome.headers.get('ETag');
      this.value.value = outcome.value;
    }
    const isSame = !outcome.ok && outcome.refusal.status === 304;
    if (outcome.ok || isSame) this.age.value = ageIn(outcome.headers);
    this.refusal.value = outcome.ok || isSame ? undefined : outcome.refusal;
    if (outcome.ok || isSame) {
      this.#backOff.succeeded();
      return this.#everyMs;
    }
    return Math.max(
      this.#backOff.failed(outcome.refusal.retryAfterSeconds),
      outcome.refusal.status === 403 ? 30_000 : 0,
    );
  }
}
