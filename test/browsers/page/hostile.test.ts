import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import type { Tab } from '../tab.ts';
import { holds, openPage, reads, rowsOf, startPage, visit } from './page-stand.ts';

const HTML = `<img src=x onerror="window.owned=1"><script>window.owned=1</script>`;
const BACKWARDS = 'שלום-\u202eevil\u202c';
const LONG = 'n'.repeat(253);

/** A node whose every text was written by somebody who means harm. The simulated cluster takes texts that a real one would refuse. */
function addHostile({ objects }: SimulatedCluster): void {
  const labels = Object.fromEntries(
    Array.from({ length: 400 }, (_, place) => [`example.com/label-${place}`, `value-${place}`]),
  );
  objects.create('nodes', {
    metadata: {
      name: LONG,
      labels: { ...labels, 'node-role.kubernetes.io/evil': '' },
      annotations: { html: HTML, backwards: BACKWARDS },
    },
    status: {
      conditions: [{ type: 'Ready', status: 'False', reason: HTML, message: HTML, lastTransitionTime: 'not a time' }],
      nodeInfo: { kubeletVersion: HTML, osImage: BACKWARDS },
      images: [{ names: [HTML], sizeBytes: 1 }],
    },
  });
}

/** Nothing of the cluster became markup or was run. */
async function expectHarmless(tab: Tab): Promise<void> {
  expect(await tab.page.evaluate('window.owned')).toBeUndefined();
  expect(await tab.page.evaluate(`document.querySelectorAll('main img, main script').length`)).toBe(0);
  expect(tab.complaints).toEqual([]);
}

describe('texts of the cluster', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  test('W-17 are never markup: names, labels, annotations, conditions, versions, images', async () => {
    const stand = await startPage({ fill: addHostile });
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes?sort=name&asc=1');
    await reads(tab, '13 nodes');
    expect((await rowsOf(tab)).find((row) => row.startsWith(LONG))).toContain(HTML);
    await expectHarmless(tab);
    await visit(tab, `/ui/nodes/${LONG}`);
    await reads(tab, HTML);
    await reads(tab, '381 more');
    await holds(
      tab,
      `[...document.querySelectorAll('.words bdi')].some((text) => text.textContent.includes('<U+202E>evil'))`,
    );
    expect(await tab.page.evaluate(`document.body.innerText.includes('\\u202e')`)).toBe(false);
    await expectHarmless(tab);
    await visit(tab, '/');
    await reads(tab, '2 nodes need attention');
    await expectHarmless(tab);
    expect(await tab.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });

  test('W-17 break no view, although kinds are named like members that every JavaScript object has', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/resources/constructor');
    for (const plural of ['constructor', '__proto__', 'valueOf']) {
      await visit(tab, `/ui/resources/${plural}`);
      await reads(tab, 'the server could not find the requested resource');
      expect(await tab.page.$$('main .filters select')).toEqual([]);
    }
  });

  test('W-17 are drawn a part at a time, however many lines an object has', async () => {
    const data = { text: 'x\n'.repeat(12_000) };
    const stand = await startPage({
      fill: ({ objects }) => objects.create('configmaps', { metadata: { name: 'long', namespace: 'shop' }, data }),
    });
    const tab = await openPage(running.browser, stand, 'ada', '/ui/resources/configmaps/shop/long');
    const lines = `document.querySelectorAll('.yaml .line').length`;
    await holds(tab, `${lines} === 5000`);
    await tab.page.click('.yaml p button');
    await holds(tab, `${lines} === 10000`);
    await tab.page.click('.yaml p button');
    await holds(tab, `${lines} > 12000 && document.querySelector('.yaml p button') === null`);
  });

  test('W-17, W-20 are never markup in a search, nor is what somebody types there', async () => {
    const stand = await startPage({ fill: addHostile });
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes');
    await reads(tab, '13 nodes');
    await tab.page.type('.top input', LONG.slice(0, 60));
    await holds(tab, `document.querySelectorAll('[role=option]').length === 1`);
    await tab.page.click('.top input', { count: 3 });
    await tab.page.type('.top input', '<b>bold</b>');
    await reads(tab, 'Nothing found.');
    await tab.page.click('.top input', { count: 3 });
    await tab.page.type('.top input', HTML);
    await reads(tab, 'query parameter');
    await expectHarmless(tab);
  });
});
