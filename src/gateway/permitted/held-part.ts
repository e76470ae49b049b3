import type { PassedAnswer } from '../../kubernetes/passage/passed-call.ts';
import { type ListPart, type PartSink, readPart, type SendPart } from './list-part.ts';

/** The most bytes of items of a list that is read before its turn: a namespace with some tens of objects. */
const MOST_BYTES = 128 * 1024;

/** What was read before its turn. */
export interface HeldItems {
  readonly part: ListPart;
  /** How many there are. */
  readonly items: number;
  /** Gives the whole part to the sink. */
  replay(into: PartSink): Promise<void> | undefined;
}

/**
 * Reads a small list before its turn. Resolves to `undefined` if it is too large, or has failed in any way: then it is asked for again
 * when its turn comes.
 */
export async function readAhead(send: SendPart, signal: AbortSignal): Promise<HeldItems | undefined> {
  const stopped = new AbortController();
  const calls: ((into: PartSink) => void)[] = [];
  let bytes = 0;
  let items = 0;
  const sink: PartSink = {
    begin: (array, headers) => void calls.push((into) => into.begin(array, headers)),
    item: (item) => {
      bytes += item.length;
      const copy = Buffer.from(item);
      items++;
      calls.push((into) => into.item(copy));
    },
    member: (name, value) => {
      const copy = Buffer.from(value);
      calls.push((into) => into.member(name, copy));
    },
    flush: () => {
      if (bytes > MOST_BYTES) stopped.abort();
      return undefined;
    },
  };
  const sendUntilStopped = (answer: PassedAnswer, limited: AbortSignal): Promise<void> =>
    send(answer, AbortSignal.any([limited, stopped.signal]));
  try {
    const part = await readPart(sendUntilStopped, sink, signal);
    if (part.refused || stopped.signal.aborted) return undefined;
    return {
      part,
      items,
      replay: (into) => {
        for (const call of calls) call(into);
        return into.flush();
      },
    };
  } catch {
    return undefined;
  }
}
