import { expect, test } from 'vitest';
import { Moment } from '../../../src/runtime/moment.ts';

test('what waits for a moment runs once, in its order, and at once when the moment is past', () => {
  const moment = new Moment();
  const seen: string[] = [];
  moment.whenPast(() => {
    seen.push('first');
    moment.whenPast(() => seen.push('at once'));
  });
  moment.whenPast(() => seen.push('second'));
  expect([seen, moment.isPast]).toEqual([[], false]);
  moment.comes();
  moment.comes();
  expect([seen, moment.isPast]).toEqual([['first', 'at once', 'second'], true]);
});
