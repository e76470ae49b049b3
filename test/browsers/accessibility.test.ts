import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from './axe.ts';
import { type RunningBrowser, startBrowser } from './browser.ts';
import { PAGES } from './pages.ts';
import { Person } from './tab.ts';

describe('a person who sees or types in another way', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  test.each(Object.keys(PAGES))(
    'B-22 axe finds nothing on the page %s in light, dark and forced colours',
    async (name) => {
      const tab = await (await Person.at(running.browser)).tab();
      await PAGES[name]?.(tab);
      await expectAccessible(tab);
    },
  );

  /** 320 px are a page of 1280 px at 400 % (WCAG 2.2, 1.4.10). */
  test.each(Object.keys(PAGES))('B-22 reads the page %s on 320 px without scrolling to the side', async (name) => {
    const tab = await (await Person.at(running.browser)).tab();
    await tab.page.setViewport({ width: 320, height: 256 });
    await PAGES[name]?.(tab);
    expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });
});
