import { describe, expect, test } from 'vitest';
import { makeNode } from '../../unit/resources/node-objects.ts';
import { eventually } from './app-under-test.ts';
import { advance, metric, start, watching } from './watch-under-test.ts';

describe('a watch that has ended', () => {
  test('is counted no more and looked at no more, whoever ended it', async () => {
    const { app, cache, clock } = await start();
    const left = await watching(app);
    const over = await watching(app, '&timeoutSeconds=5');
    const stays = await watching(app);
    expect(await metric(app, 'gatehouse_watches')).toBe('gatehouse_watches 3');
    left.close();
    await expect.poll(() => metric(app, 'gatehouse_watches')).toBe('gatehouse_watches 2');
    await advance(clock, 6_000);
    await eventually(() => over.ending === 'complete');
    await expect.poll(() => metric(app, 'gatehouse_watches')).toBe('gatehouse_watches 1');
    cache.putNode(makeNode('node-a', { resourceVersion: '2' }));
    await advance(clock, 1_000);
    await eventually(() => stays.story.at(-1) === 'MODIFIED node-a', stays);
    expect(over.story).not.toContain('MODIFIED node-a');
    stays.close();
    await expect.poll(() => metric(app, 'gatehouse_watches')).toBe('gatehouse_watches 0');
    await advance(clock, 1_000);
    expect(clock.pendingTimers).toBe(0);
  });
});
