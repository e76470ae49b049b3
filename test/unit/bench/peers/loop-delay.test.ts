import { expect, test } from 'vitest';
import { loopDelayOf } from '../../../../bench/peers/loop-delay.ts';

const page = (seconds: string): string => `# TYPE x gauge\nnodejs_eventloop_lag_p99_seconds ${seconds}\nother 1\n`;

test('takes the resolution of the measurement off the loop delay', () => {
  expect(loopDelayOf(page('0.0355'))).toBeCloseTo(25.5, 9);
});

test('has no loop delay below zero, and none where the page does not say', () => {
  expect(loopDelayOf(page('0.0099'))).toBe(0);
  expect(loopDelayOf('other 1\n')).toBeNaN();
});
