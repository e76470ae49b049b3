import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { makeNode } from '../../unit/resources/node-objects.ts';
import { eventually } from './app-under-test.ts';
import { advance, LIST, metric, pass, start, watching } from './watch-under-test.ts';

/** Asks for a watch of more than the kernel takes for a reader that does not read, and does not read. */
function stalled({ app, cache }: Awaited<ReturnType<typeof start>>): Socket {
  for (let at = 0; at < 1_500; at++) {
    cache.putNode(makeNode(`large-${at}`, {}, { spec: { note: 'x'.repeat(12_000) } }));
  }
  const slow = connect(app.port, '127.0.0.1');
  slow.on('error', () => {});
  atEnd(() => slow.destroy());
  slow.pause();
  slow.write(`GET ${LIST}?watch=1&timeoutSeconds=86400 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n`);
  return slow;
}

describe('a slow reader', () => {
  test('R-23 is cut off alone when it takes nothing for ten minutes, while others are told', async () => {
    const started = await start();
    const { app, cache, clock } = started;
    stalled(started);
    const other = await watching(app, '&name=node-a');
    await advance(clock, 599_000);
    expect(await metric(app, 'gatehouse_watches')).toBe('gatehouse_watches 2');
    // The ten minutes begin again while the kernels' buffers are still filling.
    await pass(clock, () => app.lines.some(({ reason }) => reason === 'slow'), 1_000);
    expect(await metric(app, 'gatehouse_watches_ended_total{end="slow"}')).toMatch(/ 1$/);
    expect(app.lines.find(({ reason }) => reason === 'slow')).toMatchObject({ status: 200, aborted: true });
    cache.putNode(makeNode('node-a', { resourceVersion: '2' }));
    await clock.advance(100);
    await eventually(() => other.story.at(-1) === 'MODIFIED node-a', other);
  });

  test('R-07 does not keep a shutdown from the others: each ends within 5 s', async () => {
    const started = await start();
    const { app, clock } = started;
    stalled(started);
    await expect.poll(() => metric(app, 'gatehouse_watches')).toBe('gatehouse_watches 1');
    // A share of one at each look: the first in the row does not go.
    const others = await Promise.all(Array.from({ length: 8 }, () => watching(app, '&name=node-a')));
    void app.stop();
    await advance(clock, 5_000);
    await eventually(() => others.every(({ ending }) => ending === 'complete'));
    expect(others.every(({ story }) => story.at(-1) === 'BOOKMARK')).toBe(true);
  });
});

describe('a shutdown', () => {
  test('R-07 ends every watch cleanly, with the version to go on from, within 5 s', async () => {
    const { app, clock } = await start();
    const watchers = await Promise.all(Array.from({ length: 120 }, () => watching(app)));
    const began = clock.monotonic();
    const stopped = { done: false };
    const stopping = app.stop().then(() => {
      stopped.done = true;
    });
    await clock.advance(1_000);
    const ended = () => watchers.filter(({ ending }) => ending !== undefined).length;
    await eventually(() => ended() > 0);
    expect(ended()).toBeLessThan(60); // a part of them at each look
    await pass(clock, () => stopped.done);
    await stopping;
    expect(clock.monotonic() - began).toBeLessThanOrEqual(6_000);
    expect(watchers.every(({ ending, story }) => ending === 'complete' && story.at(-1) === 'BOOKMARK')).toBe(true);
    expect(await metric(app, 'gatehouse_watches_ended_total{end="stopping"}')).toMatch(/ 120$/);
  });
});
