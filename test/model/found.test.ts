import { test } from 'vitest';
import type { Command, Setting } from './commands.ts';
import { PLAIN } from './plain-setting.ts';
import { play } from './play.ts';

/** What random runs have found, in its shortest form. Each was a bug. */
const FOUND: readonly (readonly [string, Partial<Setting>, readonly Command[]])[] = [
  [
    'I5 a watch that brings something before each 410 is no proof that the relist helped',
    {},
    [{ do: 'watches', fault: 'late_410', times: 30 }, { do: 'close' }],
  ],
  [
    'I5 a list at a version that was out of reach is not tried again with each 410',
    { watchList: 'unsupported' },
    [
      { do: 'create', node: 0 },
      { do: 'watches', fault: 'expired', times: 30 },
      { do: 'lists', fault: 'older', times: 30 },
      { do: 'restore', count: 1 },
      { do: 'create', node: 0 },
      { do: 'wait', ms: 76_000 },
    ],
  ],
  [
    'I5 a self-check that began before a relist asks for no second one',
    { watchList: 'unsupported' },
    [
      { do: 'wait', ms: 1 },
      { do: 'lists', fault: 'slow', times: 2 },
      { do: 'drop', node: 1 },
      { do: 'create', node: 0 },
      { do: 'low_bookmark' },
      { do: 'wait', ms: 60_000 },
      { do: 'restart', ms: 0 },
      { do: 'watches', fault: 'refused', times: 30 },
    ],
  ],
  [
    'I5 a self-check that ends together with a relist asks for no second one',
    { watchList: 'ignored', jitter: 52 },
    [
      { do: 'create', node: 0 },
      { do: 'wait', ms: 150_000 },
      { do: 'wait', ms: 31_000 },
      { do: 'wait', ms: 60_000 },
      { do: 'close' },
      { do: 'expire' },
      { do: 'silence' },
      { do: 'restore', count: 2 },
      { do: 'wait', ms: 320_000 },
      { do: 'wait', ms: 76_000 },
      { do: 'wait', ms: 150_000 },
    ],
  ],
  [
    'C-24 the self-check sees another object of the same name and version',
    {},
    [
      { do: 'create', node: 3 },
      { do: 'restore', count: 1 },
      { do: 'create', node: 3 },
      { do: 'replay', count: 1 },
    ],
  ],
  [
    'I2 a newer list with an older object in it begins a new epoch',
    {},
    [
      { do: 'reorder', node: 0, other: 0 },
      { do: 'restore', count: 1 },
      { do: 'create', node: 1 },
    ],
  ],
  [
    'C-30 the self-check sees two lost changes whose versions differ in the last digit',
    { base: '99999999999999999990' },
    [
      { do: 'create', node: 4 },
      { do: 'create', node: 0 },
      { do: 'drop', node: 4 },
      { do: 'drop', node: 0 },
      { do: 'create', node: 0 },
    ],
  ],
  [
    'I5 a first watch that is out of reach during a back-off costs one list at once, and no second one',
    { watchList: 'yes', jitter: 758 },
    [
      { do: 'restart', ms: 120_000 },
      { do: 'watches', fault: 'error_410', times: 1 },
      { do: 'restart', ms: 0 },
      { do: 'watches', fault: 'too_large_version', times: 2 },
      { do: 'wait', ms: 3_000 },
      { do: 'restart', ms: 120_000 },
      { do: 'wait', ms: 31_000 },
      { do: 'watches', fault: 'refused', times: 1 },
    ],
  ],
  [
    'I3 a list replaces an object that a restored cluster gave the version of another state, though it goes on from the last version',
    { watchList: 'yes' },
    [
      { do: 'reorder', node: 0, other: 0 },
      { do: 'reorder', node: 0, other: 0 },
      { do: 'restore', count: 3 },
      { do: 'pass' },
      { do: 'partial', node: 0 },
      { do: 'update', node: 0 },
      { do: 'watches', fault: 'late_410', times: 1 },
      { do: 'wait', ms: 10_000 },
      { do: 'create', node: 0 },
    ],
  ],
];

test.each(FOUND)('%s', async (_title, setting, steps) => {
  await play({ ...PLAIN, ...setting }, steps);
});
