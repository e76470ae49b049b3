import fc from 'fast-check';
import type { Sizes } from '../support/property.ts';

/** How a list request, the first page or a later one, goes wrong. `older`: the state is older than what was asked for. */
const LIST_FAULTS = [
  'refused',
  'reset',
  'expired',
  'throttled',
  'too_large_version',
  'unreadable',
  'hangs',
  'slow',
  'older',
] as const;
/** How a watch request goes wrong: before it is accepted, at once after it, or after a first bookmark (`late_…`). */
const WATCH_FAULTS = [
  'refused',
  'expired',
  'throttled',
  'too_large_version',
  'hangs',
  'closed',
  'reset',
  'unreadable',
  'error_410',
  'error_429',
  'error_500',
  'late_closed',
  'late_410',
  'half_state',
] as const;

export type ListFault = (typeof LIST_FAULTS)[number];
export type WatchFault = (typeof WATCH_FAULTS)[number];

interface OfNode {
  readonly node: number;
}
interface Counted {
  readonly count: number;
}
interface Lasting {
  readonly ms: number;
}
type Nothing = Readonly<Record<never, never>>;

/** What may happen to the cluster, the line to it, or the time; how each is done stands in `take.ts`. */
export interface Deeds {
  readonly create: OfNode;
  readonly update: OfNode;
  readonly delete: OfNode;
  readonly recreate: OfNode;
  /** A write to another kind. */
  readonly pass: Nothing;
  readonly partial: OfNode;
  readonly drop: OfNode;
  readonly reorder: OfNode & { readonly other: number };
  readonly replay: Counted;
  readonly bookmark: Nothing;
  readonly low_bookmark: Nothing;
  readonly odd_events: Nothing;
  readonly error: { readonly code: 410 | 429 | 500 };
  readonly close: Nothing;
  readonly reset: Nothing;
  readonly half_open: Nothing;
  readonly silence: Nothing;
  readonly heal: Nothing;
  readonly compact: Nothing;
  /** Compacted beyond every version that is known, and all connections reset. */
  readonly expire: Nothing;
  readonly restore: Counted;
  /** We are connected to a server that is so many versions behind (C-25). */
  readonly behind: Counted;
  /** Tokens: so many requests are answered 401. */
  readonly rotate: Counted;
  readonly restart: Lasting;
  readonly wait: Lasting;
  readonly jump_wall: Nothing;
  readonly lists: { readonly fault: ListFault; readonly times: number };
  readonly watches: { readonly fault: WatchFault; readonly times: number };
}

export type Command = { [D in keyof Deeds]: { readonly do: D } & Deeds[D] }[keyof Deeds];

/** What is fixed for a run. */
export interface Setting {
  /** `ignored`: an old server that takes a WatchList for a plain watch. */
  readonly watchList: 'yes' | 'unsupported' | 'ignored';
  /** `pods`: the objects are in two namespaces, and their filters read more than all kinds have. */
  readonly store: 'map' | 'nodes' | 'pods';
  /** The version on the wire that a run begins at. */
  readonly base: string;
  readonly pageSize: number;
  /** How far behind a list may be that may be behind. */
  readonly listLag: number;
  /** Whether an expired or too large version is said by status or by an ERROR event, or (too large) not at all. */
  readonly says: 'status' | 'event' | 'nothing';
  readonly jitter: number;
}

const node = fc.nat(4);
const count = fc.integer({ min: 1, max: 5 });
const times = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.constant(30) },
);
const WAITS = [1, 100, 900, 1_000, 3_000, 10_000, 31_000, 60_000, 76_000, 150_000, 320_000, 650_000];

const one = <D extends Command['do']>(...words: D[]) => fc.constantFrom(...words.map((word) => ({ do: word })));
const each = (weight: number, arbitrary: fc.Arbitrary<unknown>) => ({
  weight,
  arbitrary: arbitrary as fc.Arbitrary<Command>,
});

const command = fc.oneof(
  each(16, fc.record({ do: fc.constantFrom('create', 'create', 'update', 'delete', 'recreate'), node })),
  each(4, fc.record({ do: fc.constantFrom('partial', 'drop'), node })),
  each(1, fc.record({ do: fc.constant('reorder'), node, other: node })),
  each(7, one('pass', 'bookmark', 'low_bookmark', 'odd_events')),
  each(6, one('close', 'reset', 'half_open')),
  each(6, one('compact', 'expire', 'silence', 'heal', 'jump_wall')),
  each(5, fc.record({ do: fc.constantFrom('replay', 'restore', 'behind', 'rotate'), count })),
  each(3, fc.record({ do: fc.constant('error'), code: fc.constantFrom(410, 429, 500) })),
  each(2, fc.record({ do: fc.constant('restart'), ms: fc.constantFrom(0, 500, 5_000, 120_000, 660_000) })),
  each(8, fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(...WAITS) })),
  each(5, fc.record({ do: fc.constant('lists'), fault: fc.constantFrom(...LIST_FAULTS), times })),
  each(5, fc.record({ do: fc.constant('watches'), fault: fc.constantFrom(...WATCH_FAULTS), times })),
);

export const settings: fc.Arbitrary<Setting> = fc.record({
  watchList: fc.constantFrom('yes', 'unsupported', 'ignored'),
  store: fc.constantFrom('map', 'nodes', 'pods'),
  // A version gains a digit on the way, passes what a double holds exactly, or is longer than 64 bits.
  base: fc.constantFrom('1', '95', '9007199254740985', '99999999999999999990'),
  pageSize: fc.constantFrom(500, 2),
  listLag: fc.nat(2),
  says: fc.constantFrom('status', 'event', 'nothing'),
  jitter: fc.nat(1_000),
});

export const commandsOf = ({ upTo }: Sizes) => fc.array(command, upTo(60, 1));
