import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAccessible } from '../axe.ts';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import { openPage, reads } from './page-stand.ts';
import { startFullPage, VIEWS } from './views.ts';

/** Rules beyond WCAG 2.2 AA, which is what is promised, that the page does not follow, each with its reason. */
const BEYOND_AA: readonly string[] = [
  'focus-order-semantics', // experimental: it knows neither the rows of a grid nor a scrolled region, which must take the focus
  'identical-links-same-purpose', // a list repeats words such as the name of a container: the line says what they lead to (2.4.4)
  'color-contrast-enhanced', // a dense page has soft texts of 5:1
];

/** Looks at every second view with axe, from the first or the second one on: two files share them, and run beside each other. */
export function lookAtViews(from: 0 | 1): void {
  describe('the views of the page, for a person who sees in another way', () => {
    let running: RunningBrowser;
    beforeAll(async () => {
      running = await startBrowser('Chromium');
    });
    afterAll(() => running.end());

    test.each(Object.entries(VIEWS).filter((_, place) => place % 2 === from))(
      'W-15 axe finds nothing on the view %s in light, dark and forced colours',
      async (_, { reader, path, says, open, part }) => {
        const stand = await startFullPage();
        const tab = await openPage(running.browser, stand, reader, path);
        await reads(tab, says);
        await open?.(tab);
        await expectAccessible(tab, { without: BEYOND_AA, ...(part && { part }) });
        expect(tab.complaints).toEqual([]);
      },
    );
  });
}
