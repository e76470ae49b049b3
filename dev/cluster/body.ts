import type { ServerResponse } from 'node:http';

/** The body of one answer, written piece by piece. */
export interface Body {
  /** One event, or a whole list. False: wait for `drained` before writing more. */
  write(text: string | Buffer): boolean;
  /** Resolves when more can be written, or when nothing ever can again. */
  drained(): Promise<void>;
  end(): void;
}

/** Writes at once: each piece is a chunk on the wire before the next one is made. */
export function plainBody(response: ServerResponse): Body {
  return {
    write: (text) => response.write(text),
    drained: () =>
      new Promise((resolve) => {
        if (response.destroyed || !response.writableNeedDrain) return resolve();
        const done = (): void => {
          response.off('drain', done).off('close', done);
          resolve();
        };
        response.on('drain', done).on('close', done);
      }),
    end: () => response.end(),
  };
}
