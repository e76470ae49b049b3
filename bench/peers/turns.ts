import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/**
 * What held the event loop of a server since this was last asked, or since it began to listen. Each figure is the greatest of its
 * kind, so two of them may be of different turns; only `longestCpuGcMs` is of the same turn as another.
 */
export interface Turns {
  /** By the clock: on a busy machine with what others did meanwhile. */
  readonly longestMs: number;
  /** In processor time of the thread: what the code takes, however busy the machine is. */
  readonly longestCpuMs: number;
  /** The garbage collections in that very turn, by the clock. */
  readonly longestCpuGcMs: number;
  /** Processor time less the garbage collections in the turn, each by the clock: what the code takes at least. */
  readonly longestOwnMs: number;
  /** The longest collection of garbage, by the clock, whatever turn it is in. */
  readonly longestGcMs: number;
  /** What that one was for: the young part of the heap, the old one, marking it. */
  readonly gcKind: string;
}

/** In milliseconds, by the clock. */
interface Span {
  readonly startTime: number;
  readonly duration: number;
}
export type Collection = Span & { readonly kind: string };
export type Turn = Span & { readonly cpuMs: number };

/** How much of the one span lies in the other. */
const shared = (a: Span, b: Span): number =>
  Math.max(0, Math.min(a.startTime + a.duration, b.startTime + b.duration) - Math.max(a.startTime, b.startTime));

/** Out of all long turns and collections of a stretch of time. A turn was seen `lateMs` too long at most. */
export function summaryOf(turns: readonly Turn[], collections: readonly Collection[], lateMs: number): Turns {
  const collectedIn = (turn: Turn): number => collections.reduce((sum, one) => sum + shared(turn, one), 0);
  const longest = (values: readonly number[]): number => Math.max(0, ...values);
  const byCpu = turns.toSorted((a, b) => b.cpuMs - a.cpuMs)[0];
  const longestGc = collections.toSorted((a, b) => b.duration - a.duration)[0];
  return {
    longestMs: longest(turns.map(({ duration }) => duration - lateMs)),
    longestCpuMs: byCpu?.cpuMs ?? 0,
    longestCpuGcMs: byCpu ? collectedIn(byCpu) : 0,
    longestOwnMs: longest(turns.map((turn) => turn.cpuMs - collectedIn(turn))),
    longestGcMs: longestGc?.duration ?? 0,
    gcKind: longestGc?.kind ?? '',
  };
}

/** Of the event loop, whatever the cluster does (C-26, C-29), in processor time of its thread. */
export const LONGEST_TURN_MS = 50;

export const ASK_FOR_TURNS = 'turns';

/** Arguments of Node that make a process tell its turns. */
export const TURN_WATCH: readonly string[] = ['--import', join(import.meta.dirname, 'turn-watch.ts')];

/** Asks and lets it begin anew. The process was started with `TURN_WATCH` and a channel. */
export async function takeTurns(child: ChildProcess): Promise<Turns> {
  const told = once(child, 'message');
  child.send(ASK_FOR_TURNS);
  return ((await told) as [Turns])[0];
}
