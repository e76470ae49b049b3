/** An element with its place in the order of time. */
interface Placed {
  readonly at: number;
}

/**
 * Merges several sources, each with the newest element first, into one such sequence of pieces. A source is read on only when its
 * previous piece is used up. The sources are closed when the loop over the result ends.
 */
export async function* mergeNewestFirst<Element extends Placed>(
  sources: readonly AsyncGenerator<readonly Element[], void>[],
): AsyncGenerator<readonly Element[], void> {
  const [only, second] = sources;
  if (only && !second) return yield* only;
  try {
    const heads = await Promise.all(sources.map(async (source) => ({ source, piece: await nextOf(source), at: 0 })));
    for (;;) {
      const merged: Element[] = [];
      const open = heads.filter(({ piece }) => piece.length > 0);
      if (open.length === 0) return;
      // Takes the newest of all heads until the piece of one source is used up, and its next piece must be read.
      for (;;) {
        const head = open.reduce((a, b) => (headOf(b).at > headOf(a).at ? b : a));
        merged.push(headOf(head));
        if (++head.at < head.piece.length) continue;
        yield merged;
        head.piece = await nextOf(head.source);
        head.at = 0;
        break;
      }
    }
  } finally {
    await Promise.allSettled(sources.map((source) => source.return()));
  }
}

interface Head<Element> {
  readonly piece: readonly Element[];
  readonly at: number;
}

const headOf = <Element>({ piece, at }: Head<Element>): Element => piece[at] as Element;

/** The next piece that is not empty; an empty piece at the end of the source. */
async function nextOf<Element>(source: AsyncGenerator<readonly Element[], void>): Promise<readonly Element[]> {
  for (;;) {
    const { done, value } = await source.next();
    if (done || !value) return [];
    if (value.length > 0) return value;
  }
}
