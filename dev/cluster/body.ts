import type { Writable } from 'node:stream';

/** The body of one answer, written piece by piece. */
export interface Body {
  /** Writes one event, or a whole list. Returns false if the caller must wait for `drained` before it writes more. */
  write(text: string | Buffer): boolean;
  /** Resolves when more can be written, or when nothing ever can again. */
  drained(): Promise<void>;
  end(): void;
}

/** Writes at once: each piece is a chunk on the wire before the next one is made. */
export function plainBody(response: Writable): Body {
  return {
    write: (text) => response.write(text),
    drained: () => drained(response),
    end: () => response.end(),
  };
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writableNeedDrain) return resolve();
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
