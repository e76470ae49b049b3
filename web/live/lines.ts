/** The longest line that is read: the largest object of Kubernetes is smaller. */
const LONGEST_LINE = 4 * 1024 * 1024;

/** Reads a body line by line, as it comes. What follows the last line end is no line: the answer was cut there. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly string[]> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LONGEST_LINE) throw new Error('a line is too long');
      if (lines.length > 0) yield lines;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
