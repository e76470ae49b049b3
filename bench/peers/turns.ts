import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What held the event loop of a server since this was last asked, or since it began to listen. */
export interface Turns {
  /** By the clock: on a busy machine with what others did meanwhile. */
  readonly longestMs: number;
  /** In processor time of the thread: what the code takes, whoever else uses the machine. */
  readonly longestCpuMs: number;
  /** The same without the garbage collections in it, each by the clock: what the code takes at least. */
  readonly longestOwnMs: number;
  /** The longest collection of garbage, by the clock; it is part of the turns. */
  readonly longestGcMs: number;
  /** What that one was for: the young part of the heap, the old one, marking it. */
  readonly gcKind: string;
}

export const ASK_FOR_TURNS = 'turns';

/** Arguments of Node that make a process tell its turns. */
export const TURN_WATCH: readonly string[] = ['--import', join(import.meta.dirname, 'turn-watch.ts')];

/** Asks and lets it begin anew. The process was started with `TURN_WATCH` and a channel. */
export async function takeTurns(child: ChildProcess): Promise<Turns> {
  const told = once(child, 'message');
  child.send(ASK_FOR_TURNS);
  return ((await told) as [Turns])[0];
}
