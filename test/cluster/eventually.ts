import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../support/waiting.ts';

/** Waits until `read` answers as expected, because a change takes a moment to arrive: two minutes at most. Answers that value. */
export const eventually = <T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> =>
  waitFor(read, isSo, { turn: () => sleep(50), looks: 2_400 });
