import axe from 'axe-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningBrowser, startBrowser } from './browser.ts';
import { PAGES } from './pages.ts';
import { Person } from './tab.ts';

const MODES = {
  light: { name: 'prefers-color-scheme', value: 'light' },
  dark: { name: 'prefers-color-scheme', value: 'dark' },
  forced: { name: 'forced-colors', value: 'active' },
};

/**
 * Every rule that axe has, the experimental ones and those of the level AAA as well. `hidden-content` says only that something is hidden,
 * which the name for the password manager is.
 */
const RULES = Object.fromEntries(
  axe.getRules().map(({ ruleId }) => [ruleId, { enabled: ruleId !== 'hidden-content' }]),
);

/** Runs in the page: what breaks a rule, and what axe cannot judge. */
const FINDINGS = `(async () => {
  const { violations, incomplete } = await axe.run(document, { rules: ${JSON.stringify(RULES)} });
  const told = ({ id, nodes }) => nodes.map(({ html, any }) => [id, html, ...any.map(({ message }) => message)].join(': '));
  return { violations: violations.flatMap(told), incomplete: incomplete.flatMap(told) };
})()`;

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
      await tab.page.evaluate(axe.source);
      for (const [mode, feature] of Object.entries(MODES)) {
        await tab.page.emulateMediaFeatures([feature]);
        expect.soft({ mode, ...((await tab.page.evaluate(FINDINGS)) as object) }).toEqual({
          mode,
          violations: [],
          incomplete: [],
        });
      }
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
