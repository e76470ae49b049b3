import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/**
 * What blocked the event loop of a server since the last time this was asked, or since the server began to listen. Each
 * figure is the greatest of its kind, so two of them may come from different turns. Only `longestCpuGcMs` is from the
 * same turn as another figure.
 */
export interface Turns {
  /** By the clock. On a busy machine this includes time in which others had the processor. */
  readonly longestMs: number;
  /** In processor time of the thread: what the code itself takes, however busy the machine is. */
  readonly longestCpuMs: number;
  /** The garbage collections in that very turn, by the clock. */
  readonly longestCpuGcMs: number;
  /** Processor time minus the garbage collections in the turn, each by the clock: the code took at least this. */
  readonly longestOwnMs: number;
  /** The longest garbage collection, by the clock, in whatever turn it was. */
  readonly longestGcMs: number;
  /** The kind of that collection: the young part of the heap, the old part, or marking of the old part. */
  readonly gcKind: string;
}

/** In milliseconds, by the clock. */
interface Span {
  readonly startTime: number;
  readonly duration: number;
}
export type Collection = Span & { readonly kind: string };
export type Turn = Span & { readonly cpuMs: number };

/** How much of the one span overlaps the other. */
const shared = (a: Span, b: Span): number =>
  Math.max(0, Math.min(a.startTime + a.duration, b.startTime + b.duration) - Math.max(a.startTime, b.startTime));

/**
 * Made from all long turns and collections of a period. A turn may have been measured as too long, by `lateMs` at most.
 */
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

/** Arguments of Node that make a process report its turns. */
export const TURN_WATCH: readonly string[] = ['--import', join(import.meta.dirname, 'turn-watch.ts')];

/** Asks for the turns and starts a new period. The process was started with `TURN_WATCH` and a channel. */
export async function takeTurns(child: ChildProcess): Promise<Turns> {
  const told = once(child, 'message');
  child.send(ASK_FOR_TURNS);
  return ((await told) as [Turns])[0];
}
