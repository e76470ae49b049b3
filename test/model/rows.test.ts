import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Command, Setting } from './commands.ts';
import { PLAIN } from './plain-setting.ts';
import { play } from './play.ts';

const page = readFileSync(new URL('../../docs/chaos.md', import.meta.url), 'utf8');

const update: Command = { do: 'update', node: 0 };
const wait = (ms: number): Command => ({ do: 'wait', ms });
const times = (count: number, ...commands: Command[]): Command[] =>
  Array.from({ length: count }, () => commands).flat();

interface Row {
  readonly id: string;
  /** What the row allows, from the end of the fault. */
  readonly withinMs: number;
  /** The fault, with a change in it that the cache must catch up with. */
  readonly steps: readonly Command[];
  readonly setting?: Partial<Setting>;
}

const ROWS: readonly Row[] = [
  { id: 'C-01', withinMs: 10_000, steps: [{ do: 'restart', ms: 5_000 }, update, wait(5_000)] },
  { id: 'C-02', withinMs: 1_000, steps: [update, { do: 'close' }, update] },
  {
    id: 'C-03',
    withinMs: 30_000,
    steps: [{ do: 'watches', fault: 'closed', times: 30 }, { do: 'close' }, wait(60_000), update],
  },
  { id: 'C-04', withinMs: 60_000, steps: [{ do: 'restart', ms: 660_000 }, update, wait(660_000)] },
  { id: 'C-06', withinMs: 75_000, steps: [{ do: 'half_open' }, update] },
  { id: 'C-07', withinMs: 5_000, steps: [wait(60_000), { do: 'expire' }, update] },
  { id: 'C-08', withinMs: 5_000, steps: [wait(60_000), { do: 'error', code: 410 }, update] },
  {
    id: 'C-09',
    withinMs: 10_000,
    steps: [{ do: 'lists', fault: 'expired', times: 1 }, { do: 'expire' }, update],
    setting: { watchList: 'unsupported' },
  },
  {
    id: 'C-10',
    withinMs: 30_000,
    steps: [{ do: 'watches', fault: 'expired', times: 30 }, { do: 'close' }, wait(60_000), update],
  },
  {
    id: 'C-11',
    withinMs: 10_000,
    steps: [{ do: 'watches', fault: 'error_500', times: 2 }, { do: 'error', code: 500 }, update, wait(5_000), update],
  },
  { id: 'C-12', withinMs: 9_000, steps: [{ do: 'error', code: 429 }, update] },
  {
    id: 'C-13',
    withinMs: 30_000,
    steps: [{ do: 'watches', fault: 'refused', times: 5 }, { do: 'reset' }, wait(30_000), update],
  },
  { id: 'C-14', withinMs: 2_000, steps: [{ do: 'partial', node: 0 }] },
  {
    id: 'C-15',
    withinMs: 2_000,
    steps: [{ do: 'watches', fault: 'unreadable', times: 1 }, { do: 'close' }, update],
  },
  {
    // A line that is given up, and a stream that is cut off: more of the bytes there is not in the model.
    id: 'C-16',
    withinMs: 5_000,
    steps: [
      { do: 'watches', fault: 'unreadable', times: 1 },
      { do: 'watches', fault: 'reset', times: 1 },
      { do: 'close' },
      wait(1_600), // until the second has met its fault, too
      update,
    ],
  },
  { id: 'C-17', withinMs: 0, steps: times(200, { do: 'replay', count: 5 }) },
  { id: 'C-18', withinMs: 0, steps: [update, update, { do: 'replay', count: 3 }] },
  {
    id: 'C-19',
    withinMs: 0,
    steps: [
      { do: 'recreate', node: 0 },
      { do: 'replay', count: 3 },
    ],
  },
  {
    id: 'C-20',
    withinMs: 1_000,
    steps: [...times(10, { do: 'pass' }, wait(60_000), { do: 'bookmark' }), { do: 'compact' }, { do: 'close' }, update],
  },
  { id: 'C-21', withinMs: 0, steps: [{ do: 'odd_events' }, { do: 'low_bookmark' }, update] },
  {
    id: 'C-22',
    withinMs: 10_000,
    steps: [{ do: 'watches', fault: 'too_large_version', times: 1 }, { do: 'close' }, update],
  },
  {
    id: 'C-23',
    withinMs: 30_000,
    steps: [update, update, update, { do: 'restore', count: 3 }],
    setting: { says: 'nothing' }, // it takes a watch at a version of its future: the hard case
  },
  {
    id: 'C-24',
    withinMs: 480_000,
    steps: [update, update, { do: 'restore', count: 2 }, { do: 'create', node: 1 }, { do: 'create', node: 2 }],
  },
  {
    id: 'C-25',
    withinMs: 30_000,
    steps: [...times(5, update), { do: 'behind', count: 5 }, { do: 'reset' }, wait(60_000), update],
    setting: { watchList: 'unsupported' }, // each of its answers is a refusal: the hard case
  },
  { id: 'C-27', withinMs: 2_000, steps: [{ do: 'rotate', count: 1 }, update] },
  {
    id: 'C-28', // 403 is a refusal as any other: what is refused is asked for again, for longer than nodes may be old by default
    withinMs: 60_000,
    steps: [
      { do: 'watches', fault: 'refused', times: 60 },
      { do: 'lists', fault: 'refused', times: 60 },
      { do: 'reset' },
      wait(780_000),
      update,
    ],
  },
  { id: 'C-30', withinMs: 480_000, steps: [{ do: 'drop', node: 1 }, update] },
  { id: 'C-33', withinMs: 5_000, steps: [{ do: 'jump_wall' }, update] },
];

/** Each with jitter of its own. */
const RUNS = 50;

test.each(ROWS)('$id converges in time, and the page says in how much', async ({ id, withinMs, steps, setting }) => {
  let longest = 0;
  for (let jitter = 0; jitter < RUNS; jitter++) {
    const taken = await play({ ...PLAIN, ...setting, jitter }, [{ do: 'create', node: 0 }, wait(1_000), ...steps]);
    longest = Math.max(longest, taken);
  }
  expect(longest).toBeLessThanOrEqual(withinMs);
  const [, said] = new RegExp(`^\\| ${id} \\|.*\\| ([\\d.]+) s \\|$`, 'm').exec(page) ?? [];
  expect(said).toBe((Math.ceil(longest / 100) / 10).toString());
});
