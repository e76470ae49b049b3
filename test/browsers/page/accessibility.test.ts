import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import { openPage, reads, visit } from './page-stand.ts';
import { startFullPage, VIEWS } from './views.ts';

describe('the page for a person who sees or types in another way', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  /** 360 px are a telephone, and less than a page of 1280 px at 200 %. */
  test('W-15 every view can be read on 360 px without scrolling the page to the side', async () => {
    const stand = await startFullPage();
    for (const [reader, views] of Map.groupBy(Object.values(VIEWS), ({ reader }) => reader)) {
      const tab = await openPage(running.browser, stand, reader);
      await tab.page.setViewport({ width: 360, height: 640 });
      for (const { path, says } of views) {
        await visit(tab, path);
        await reads(tab, says);
        expect.soft([path, await tab.page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 360]);
      }
    }
  });

  test('W-16 the page is in Chinese for a browser that prefers it, and in what the reader chooses', async () => {
    const stand = await startFullPage();
    const tab = await openPage(running.browser, stand, 'ada');
    await tab.page.click('.person summary');
    await tab.page.select('.person select', 'zh');
    await reads(tab, '概览');
    expect(await tab.page.evaluate('[document.documentElement.lang, document.title]')).toEqual([
      'zh-CN',
      '概览 · Gatehouse',
    ]);
    await tab.page.reload();
    await reads(tab, '概览');
    for (const { path, reader } of Object.values(VIEWS)) if (reader === 'ada') await visit(tab, path);
    expect(tab.complaints).toEqual([]);
  });
});
