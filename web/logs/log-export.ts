import { signal } from '@preact/signals';
import { noted, send } from '../api/call.ts';
import { away, type Refusal, refusalOf } from '../api/refusal.ts';
import { tenantRoot } from '../app/settings.ts';
import { queryOf } from '../documents/query.ts';
import { fileName, saveFile } from '../parts/save-file.ts';
import type { LogSearch } from './log-search.ts';

/** More is not held in the browser: the file is cut there. */
const MOST_BYTES = 128 * 1024 * 1024;

/** What became of a download. */
export type Exported =
  /** All that the server sent is in the file. `lines` fewer than the records that were found: the server has cut it. */
  | { readonly how: 'whole'; readonly bytes: number; readonly lines: number }
  /** The file was cut because the browser does not hold more. */
  | { readonly how: 'too-big'; readonly bytes: number; readonly lines: number };

/** The download of all that a search finds, as a text file. */
export class LogExport {
  /** Bytes that have come; `undefined`: nothing is downloaded now. */
  readonly bytes = signal<number | undefined>(undefined);
  readonly result = signal<Exported | undefined>(undefined);
  readonly refusal = signal<Refusal | undefined>(undefined);
  #stop: AbortController | undefined;

  /** Ends a download. Nothing is saved. */
  cancel(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.bytes.value = undefined;
  }

  async start({ query: { filters }, span }: LogSearch): Promise<void> {
    this.cancel();
    const stop = new AbortController();
    this.#stop = stop;
    [this.bytes.value, this.result.value, this.refusal.value] = [0, undefined, undefined];
    const path = `${tenantRoot()}/logs?${queryOf(filters, span, { operation: 'export' })}`;
    const called = { method: 'GET', path };
    try {
      const answer = await send(path, { headers: { Accept: 'text/plain, application/json' }, signal: stop.signal });
      if (!answer.ok || !answer.body) {
        this.refusal.value = noted(refusalOf(called, answer, await answer.text()));
      } else {
        const { parts, ...result } = await this.#read(answer.body, stop.signal);
        saveFile(fileName(['logs', filters['namespaces']].filter(Boolean).join('-'), new Date()), parts);
        this.result.value = result;
      }
    } catch (error) {
      // An answer that broke off is no whole file, so nothing is saved.
      if (!stop.signal.aborted) this.refusal.value = away(called, error);
    } finally {
      if (this.#stop === stop) this.bytes.value = undefined;
    }
  }

  async #read(
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    signal: AbortSignal,
  ): Promise<Exported & { readonly parts: BlobPart[] }> {
    const parts: BlobPart[] = [];
    let [bytes, lines] = [0, 0];
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return { how: 'whole', bytes, lines, parts };
      parts.push(value);
      bytes += value.length;
      for (const byte of value) if (byte === NEWLINE) lines++;
      this.bytes.value = bytes;
      if (bytes > MOST_BYTES) {
        await reader.cancel();
        return { how: 'too-big', bytes, lines, parts };
      }
    }
  }
}

const NEWLINE = 0x0a;
