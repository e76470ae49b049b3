import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { keyOf } from '../../../dev/cluster/kube-object.ts';
import { countedNode } from '../../../src/nodes/usage/pod-store.ts';
import { eventually } from '../../integration/service/stand.ts';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import { Person, type Tab } from '../tab.ts';
import { holds, openPage, type PageStand, press, reads, rowsOf, signIn, startPage, visit } from './page-stand.ts';

const NODES = '/ui/nodes?sort=name&asc=1';

/** Counts, in the page, which rows of the table are changed from now on. */
const COUNT_TOUCHED = `(() => {
  window.touched = new Set();
  const rowOf = (node) => (node instanceof Element ? node : node.parentElement)?.closest('[role=row][data-place]')?.dataset.place;
  new MutationObserver((records) => {
    for (const { target } of records) if (rowOf(target) !== undefined) touched.add(rowOf(target));
  }).observe(document.querySelector('.rows'), { subtree: true, childList: true, characterData: true });
})()`;

/** Notes, in the page, how many rows get their content each time that the table is drawn from now on. */
const COUNT_FILLED = `(() => {
  window.filled = [];
  const linksIn = (node) => (node instanceof Element ? [...node.querySelectorAll('a'), ...(node.matches('a') ? [node] : [])] : []);
  const rowOf = (link) => link.closest('[role=row][data-place]')?.dataset.place;
  new MutationObserver((records) => {
    const rows = new Set(records.flatMap(({ addedNodes }) => [...addedNodes].flatMap(linksIn)).map(rowOf));
    if (rows.size > 0) filled.push(rows.size);
  }).observe(document.querySelector('.rows'), { subtree: true, childList: true });
})()`;

const IS_FULL = `[...document.querySelectorAll('[role=row][data-place]')].every((row) => row.querySelector('a'))`;

const touched = async (tab: Tab): Promise<string[]> => (await tab.page.evaluate('[...touched]')) as string[];

/** The label of a node of the cluster is changed, so that its object is another one. */
function cordon({ cluster }: PageStand, name: string): void {
  const node = cluster.objects.get('nodes', name);
  if (!node) throw new Error(`there is no node ${name}`);
  cluster.objects.update('nodes', { ...node, spec: { ...(node['spec'] as object), unschedulable: true } });
}

/** A pod that was started again so often. */
function restartOne({ objects }: SimulatedCluster): void {
  const [pod] = objects.list('pods');
  if (!pod) throw new Error('there is no pod');
  const state = { waiting: { reason: 'CrashLoopBackOff' } };
  const containerStatuses = [{ name: 'main', ready: false, restartCount: 4_711, state }];
  objects.update('pods', { ...pod, status: { ...pod.status, containerStatuses } });
}

const remove = ({ cluster }: PageStand, name: string): unknown => cluster.objects.remove('nodes', name);

describe('a table of the page', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  test('W-10 has only the rows on the screen in the document, of 3,000 nodes, and reads pages as it is scrolled', async () => {
    const stand = await startPage({ nodes: 3_000, podsPerNode: 0 });
    const tab = await openPage(running.browser, stand, 'ada', NODES);
    await reads(tab, '3,000 nodes');
    const lists: string[] = [];
    tab.page.on('request', (request) => void (/nodes\?.*limit=/.test(request.url()) && lists.push(request.url())));
    await tab.page.evaluate(`document.querySelector('.table').scrollTo(0, 1e9)`);
    await holds(
      tab,
      `[...document.querySelectorAll('[role=row][data-place]')].some((row) => row.dataset.place === '2999' && row.innerText.includes('worker'))`,
    );
    const rows = await rowsOf(tab);
    expect(rows.length).toBeLessThan(100);
    expect(await tab.page.$eval('[role=grid]', (grid) => grid.getAttribute('aria-rowcount'))).toBe('3001');
    expect(lists.map((url) => new URL(url).searchParams.get('limit'))).toEqual(lists.map(() => '50'));
    expect(tab.complaints).toEqual([]);
  });

  test('W-11 gives at most five rows their content in one frame, and fills the screen in the frames that follow', async () => {
    const stand = await startPage({ nodes: 200, podsPerNode: 0 });
    const tab = await openPage(running.browser, stand, 'ada', NODES);
    await reads(tab, '200 nodes');
    await holds(tab, IS_FULL);
    await tab.page.evaluate(COUNT_FILLED);
    await tab.page.evaluate(`document.querySelector('.table').scrollTo(0, 2_000)`);
    await holds(tab, `document.querySelector('[data-place="62"] a') !== null && ${IS_FULL}`);
    const filled = (await tab.page.evaluate('filled')) as number[];
    expect(Math.max(...filled)).toBe(5);
    expect(filled.reduce((sum, rows) => sum + rows)).toBeGreaterThan(20);
    expect(tab.complaints).toEqual([]);
  });

  test('a node shows how many pods it has of how many it takes, and its row follows a pod that is deleted', async () => {
    const stand = await startPage();
    const { objects } = stand.cluster;
    const tab = await openPage(running.browser, stand, 'ada', NODES);
    await holds(tab, IS_FULL);
    const pods = objects.list('pods').filter((pod) => countedNode(pod) === 'worker-b-2');
    expect(pods.length).toBeGreaterThan(1);
    const row = `[...document.querySelectorAll('[role=row]')].find((row) => row.innerText.includes('worker-b-2'))`;
    await holds(tab, `${row}.innerText.includes('${pods.length}/110')`);
    objects.remove('pods', keyOf(pods[0]?.metadata ?? { name: '' }));
    await holds(tab, `${row}.innerText.includes('${pods.length - 1}/110')`);
    await tab.page.setViewport({ width: 1280, height: 800 });
    // The table of nodes has the most columns; all of them are on a usual screen.
    await holds(
      tab,
      `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.table'))`,
    );
    expect(tab.complaints).toEqual([]);
  });

  test('W-10 touches only the row of an object that changes', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', NODES);
    await reads(tab, 'live');
    await holds(tab, `document.querySelectorAll('[role=row][data-place]').length === 12`);
    await tab.page.evaluate(COUNT_TOUCHED);
    cordon(stand, 'worker-b-2');
    await holds(
      tab,
      `[...document.querySelectorAll('[role=row]')].some((row) => row.innerText.includes('worker-b-2') && row.innerText.includes('No new pods'))`,
    );
    expect(await touched(tab)).toEqual(['7']);
    expect((await rowsOf(tab))[7]).toContain('worker-b-2');
  });

  test('W-10 keeps the order while the pointer is in it, says how many changes wait, and shows them when it leaves', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', NODES);
    await reads(tab, 'live');
    await holds(tab, `document.querySelectorAll('[role=row][data-place]').length === 12`);
    await tab.page.hover('[data-place="3"]');
    remove(stand, 'worker-a-1');
    remove(stand, 'worker-a-2');
    cordon(stand, 'worker-b-1');
    await reads(tab, '2 changes');
    await reads(tab, 'No new pods');
    expect((await rowsOf(tab)).length).toBe(12);
    await tab.page.hover('h1');
    await reads(tab, '10 nodes');
    expect((await rowsOf(tab)).map((row) => row.split(' ')[0])).not.toContain('worker-a-1');
    await holds(tab, `document.querySelector('.badge') === null`);
  });

  test('W-10 leaves a filter as it is typed, and gives up one that was not asked for when the view is left', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes');
    await reads(tab, '12 nodes');
    await tab.page.type('.filters label:nth-of-type(2) input', '!edge ');
    await holds(tab, `location.search.includes('labels')`);
    await tab.page.type('.filters input', 'worker-a');
    await reads(tab, '3 nodes');
    expect(await tab.page.$eval('.filters label:nth-of-type(2) input', (field) => field.value)).toBe('!edge ');
    await tab.page.type('.filters input', '-1');
    await visit(tab, '/ui/namespaces');
    await reads(tab, '6 namespaces');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await tab.page.evaluate('location.search')).toBe('');
    await tab.back();
    await reads(tab, '3 nodes');
    expect(await tab.page.$eval('.filters input', (field) => field.value)).toBe('worker-a');
  });

  test('W-10 keeps the order after a heading was pressed, while the pointer is still there, and not for the focus of the heading', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes');
    await reads(tab, 'live');
    await tab.page.click('button.sort');
    await holds(
      tab,
      `location.search.includes('sort=name') && document.querySelectorAll('[data-place] a').length === 12`,
    );
    await reads(tab, 'live');
    remove(stand, 'worker-a-1');
    await reads(tab, '1 change');
    expect((await rowsOf(tab)).length).toBe(12);
    await tab.page.hover('h1');
    await reads(tab, '11 nodes');
    expect(await tab.page.evaluate('document.activeElement.className')).toBe('sort');
  });

  test('W-10 has the filter and the order in the address, which another person can open', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes');
    await reads(tab, '12 nodes');
    await tab.page.type('.filters input', 'worker-a');
    await reads(tab, '3 nodes');
    await tab.page.click('button.sort');
    await holds(tab, `location.search.includes('sort=name')`);
    const other = await openPage(
      running.browser,
      stand,
      'ada',
      String(await tab.page.evaluate('location.pathname + location.search')),
    );
    await reads(other, '3 nodes');
    expect((await rowsOf(other)).map((row) => row.split(' ')[0])).toEqual(['worker-a-1', 'worker-a-2', 'worker-a-3']);
  });

  test('W-10 asks the server for the order of a column of pods whose heading is pressed', async () => {
    const stand = await startPage({ fill: restartOne });
    const tab = await openPage(running.browser, stand, 'ada', '/ui/resources/pods');
    await holds(tab, `document.querySelectorAll('[role=row][data-place]').length > 10`);
    const asked: string[] = [];
    tab.page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/pods') && searchParams.has('limit'))
        asked.push(`${searchParams.get('sortBy')} ${searchParams.get('ascending')}`);
    });
    for (const [heading, word, ascending] of [
      ['Restarts', 'restarts', null],
      ['Status', 'status', 'true'],
      ['Node', 'nodeName', 'true'],
    ] as const) {
      await press(tab, heading, '[role=grid]');
      await holds(tab, `new URLSearchParams(location.search).get('sort') === '${word}'`);
      await eventually(
        async () => asked.at(-1),
        (last) => last === `${word} ${ascending}`,
      );
    }
    await visit(tab, '/ui/resources/pods?sort=restarts');
    await holds(
      tab,
      `[...document.querySelectorAll('[role=columnheader]')].some((one) => one.ariaSort === 'descending' && one.innerText.startsWith('Restarts'))`,
    );
    const first = `document.querySelector('[role=row][data-place="0"]')?.innerText`;
    await holds(tab, `${first}?.includes('CrashLoopBackOff') && ${first}.includes('4711')`);
  });

  test('W-12 shares one stream between two tabs: the one that is looked at has it', async () => {
    const stand = await startPage();
    const person = await Person.at(running.browser);
    const [first, second] = [await person.tab(), await person.tab()];
    await signIn(first, stand, 'ada', NODES);
    await first.page.bringToFront();
    await reads(first, 'live');
    await second.page.goto(`${stand.origin}${NODES}`);
    await second.page.bringToFront();
    await reads(second, 'live');
    await reads(first, 'every 10 s');
    const open = (): Promise<number> => stand.service.metric('gatehouse_watches');
    await eventually(open, (count) => count === 1);
    await second.page.close();
    await first.page.bringToFront();
    await reads(first, 'live');
    await eventually(open, (count) => count === 1);
  });

  test('W-15 moves the focus over rows by the arrow keys, opens one by Enter, and W-20 goes to the search by /', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', NODES);
    await holds(tab, `document.querySelectorAll('[role=row][data-place]').length === 12`);
    const { keyboard } = tab.page;
    await tab.page.focus('[data-place="0"]');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'End'] as const) await keyboard.press(key);
    await holds(tab, `document.activeElement.dataset.place === '11'`);
    await keyboard.press('Home');
    await holds(tab, `document.activeElement.dataset.place === '0'`);
    expect(await tab.page.$$eval('[role=row][tabindex="0"]', (rows) => rows.length)).toBe(1);
    await keyboard.press('Enter');
    await holds(tab, `location.pathname === '/ui/nodes/control-plane-1'`);
    await keyboard.press('/');
    await holds(tab, `document.activeElement.matches('[role=combobox]')`);
  });

  test('W-15 rows are reached by the keyboard wherever the table is scrolled to, and the arrow keys go on from a row that was clicked', async () => {
    const stand = await startPage({ nodes: 200, podsPerNode: 0 });
    const tab = await openPage(running.browser, stand, 'ada', NODES);
    await reads(tab, '200 nodes');
    const { keyboard } = tab.page;
    await tab.page.evaluate(`document.querySelector('.table').scrollTo(0, 3_200)`);
    await holds(tab, `document.querySelector('[data-place="100"] a') !== null`);
    await tab.page.evaluate(`[...document.querySelectorAll('button.sort')].at(-1).focus()`);
    await keyboard.press('Tab');
    await holds(tab, `Number(document.activeElement.dataset.place) > 80`);
    const row = await tab.page.waitForSelector('[data-place="105"]');
    await row?.click({ offset: { x: 500, y: 16 } });
    await keyboard.press('ArrowDown');
    await holds(tab, `document.activeElement.dataset.place === '106'`);
  });

  test('a list of nothing, and one of one object, say so', async () => {
    const stand = await startPage({ nodes: 1, podsPerNode: 0 });
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes');
    await reads(tab, '1 node');
    await visit(tab, '/ui/nodes?name=no-such');
    await reads(tab, 'No node matches');
  });

  test('kinds of Kubernetes have the columns of kubectl in their tables, with times as ages, and so have their objects', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/resources/cronjobs');
    await reads(tab, '1 cronjob');
    const shown = async (): Promise<string | undefined> => (await rowsOf(tab))[0];
    await expect.poll(shown).toMatch(/^nightly-report shop 0 2 \* \* \* 8 h /);
    await visit(tab, '/ui/resources/horizontalpodautoscalers');
    await expect.poll(shown).toMatch(/^storefront shop storefront 2 20 2 /);
    await visit(tab, '/ui/resources/ingresses/shop/storefront');
    await reads(tab, '192.0.2.200');
    expect(await tab.page.$eval('.facts', (facts) => facts.textContent)).toContain('Hostsshop.example.test');
    expect(tab.complaints).toEqual([]);
  });

  test('what a node needs attention for is not cut in the table', async () => {
    const tab = await openPage(running.browser, await startPage(), 'ada', NODES);
    await reads(tab, 'Ready=Unknown');
    const cut = await tab.page.$$eval('.rows .state > span', (all) =>
      all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
    );
    expect(cut).toEqual([]);
  });
});
