/** Neighbouring parts of a text. */
export interface Stretch {
  readonly parts: readonly Uint8Array[];
  /** Bytes of all parts. */
  readonly length: number;
}

/** Cuts a text that is in parts into stretches of `size` bytes, the last one shorter. Views, no copies. */
export function* cutText(text: readonly Uint8Array[], size: number): Iterable<Stretch> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for (const part of text) {
    for (let at = 0; at < part.length; ) {
      const view = part.subarray(at, at + size - length);
      parts.push(view);
      at += view.length;
      length += view.length;
      if (length < size) continue;
      yield { parts, length };
      parts = [];
      length = 0;
    }
  }
  if (length > 0) yield { parts, length };
}
