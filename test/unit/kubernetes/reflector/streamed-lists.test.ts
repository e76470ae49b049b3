import { expect, test } from 'vitest';
import { StreamedLists } from '../../../../src/kubernetes/reflector/recovery.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const MINUTE = 60_000;

/** Minutes from a failure until a stream is wanted again. */
async function pauseOf(streamed: StreamedLists, clock: FakeClock): Promise<number> {
  streamed.failed();
  let minutes = 0;
  for (; !streamed.areWanted; minutes++) await clock.advance(MINUTE);
  return minutes;
}

test('a list is asked for as a stream from the start', () => {
  expect(new StreamedLists(new FakeClock()).areWanted).toBe(true);
});

test('each failure in a row makes the pause twice as long, up to four hours', async () => {
  const clock = new FakeClock();
  const streamed = new StreamedLists(clock);
  const pauses: number[] = [];
  for (let failure = 0; failure < 7; failure++) pauses.push(await pauseOf(streamed, clock));
  expect(pauses).toEqual([10, 20, 40, 80, 160, 240, 240]);
});

test('a stream that came to its end makes the next pause the first one again', async () => {
  const clock = new FakeClock();
  const streamed = new StreamedLists(clock);
  await pauseOf(streamed, clock);
  await pauseOf(streamed, clock);
  streamed.succeeded();
  expect(await pauseOf(streamed, clock)).toBe(10);
});
