import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../integration/service/stand.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import type { Tab } from '../tab.ts';
import {
  fillIn,
  holds,
  openPage,
  type PageStand,
  press,
  reads,
  startLogs,
  startPage,
  stored,
  visit,
} from './page-stand.ts';

/** The pods of the deployment `checkout`, which has one container. */
const [FIRST, SECOND] = ['checkout-fdt6mntlfx-7cmw4', 'checkout-fdt6mntlfx-9fm6j'] as const;
const LIVE = '/ui/live-logs/deployments/shop/checkout';

const HTML = `<img src=x onerror="window.owned=1"><script>window.owned=1</script>`;
const HOSTILE = `${HTML}\u001b[31mred\u001b[0m\u202eleft`;
const SHOWN = `${HTML}^[[31mred^[[0m<U+202E>left`;

const write = ({ cluster }: PageStand, pod: string, ...lines: readonly string[]): void =>
  cluster.podLogs.write(`shop/${pod}`, 'checkout', ...lines);

/** Adds a pod of the deployment, like its first one. */
function addPod({ cluster: { objects } }: PageStand, name: string): void {
  const pod = objects.get('pods', `shop/${FIRST}`);
  if (!pod) throw new Error(`there is no pod ${FIRST}`);
  const { namespace = '', labels = {}, ownerReferences } = pod.metadata;
  objects.create('pods', { ...pod, metadata: { name, namespace, labels, ownerReferences } });
}

/** The lines that are shown, or the notes between them, each as `pod: text`. The view shows the end of a long name, and has all of it as the title. */
const rowsOf = (what: 'lines' | 'notes'): string =>
  `[...document.querySelectorAll('.stream .row${what === 'lines' ? ':not(.note)' : '.note'}')]
    .map((row) => row.querySelector('.who').title.split(' / ')[0] + ': ' + row.querySelector('.text').innerText.trim())`;

const shows = (tab: Tab, what: 'lines' | 'notes', rows: readonly string[]): Promise<void> =>
  holds(tab, `JSON.stringify(${rowsOf(what)}) === ${JSON.stringify(JSON.stringify(rows))}`);

/** Nothing of a log became markup or was run. */
async function expectHarmless(tab: Tab): Promise<void> {
  expect(await tab.page.evaluate('window.owned')).toBeUndefined();
  expect(await tab.page.evaluate(`document.querySelectorAll('main img, main script').length`)).toBe(0);
  expect(tab.complaints).toEqual([]);
}

/** Has the files that the tab saves written into a folder. Returns the text of the first one, once it is whole. */
async function takeDownloads(tab: Tab): Promise<() => Promise<string>> {
  const { folder } = temporaryFolder();
  const session = await tab.page.createCDPSession();
  const { id } = tab.page.browserContext();
  const given = { behavior: 'allow', downloadPath: folder, ...(id !== undefined && { browserContextId: id }) } as const;
  await session.send('Browser.setDownloadBehavior', given);
  return async () => {
    // Chromium holds the name with an empty file until the whole one takes its place.
    const whole = () =>
      readdirSync(folder).filter((name) => name.endsWith('.log') && statSync(join(folder, name)).size > 0);
    const [name = ''] = await eventually(whole, ({ length }) => length > 0);
    return readFileSync(join(folder, name), 'utf8');
  };
}

describe('logs on the page', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  test('W-18 the lines of all pods of a workload are in one view, and a pod that joins or leaves says so', async () => {
    const stand = await startPage();
    write(stand, FIRST, 'order 1 placed');
    write(stand, SECOND, 'order 2 placed');
    const tab = await openPage(running.browser, stand, 'ada', LIVE);
    await shows(tab, 'lines', [`${FIRST}: order 1 placed`, `${SECOND}: order 2 placed`]);
    addPod(stand, 'checkout-new');
    await holds(tab, `${rowsOf('notes')}.includes('checkout-new: joined')`);
    write(stand, 'checkout-new', 'order 3 placed');
    await reads(tab, 'order 3 placed');
    await reads(tab, '3 pods');
    stand.cluster.objects.remove('pods', `shop/${SECOND}`);
    await holds(tab, `${rowsOf('notes')}.includes('${SECOND}: left')`);
    await reads(tab, '2 pods');
    expect(tab.complaints).toEqual([]);
  });

  test('W-18 can be paused and goes on with what came meanwhile, is filtered by words and pods, and saved', async () => {
    const stand = await startPage();
    write(stand, FIRST, 'order 1 placed');
    write(stand, SECOND, 'order 2 placed');
    const tab = await openPage(running.browser, stand, 'ada', LIVE);
    const saved = await takeDownloads(tab);
    await reads(tab, 'order 2 placed');
    await press(tab, 'Pause');
    write(stand, FIRST, 'order 1 paid');
    await reads(tab, '1 line waits');
    expect(await tab.text()).not.toContain('order 1 paid');
    await press(tab, 'Pause');
    await reads(tab, 'order 1 paid');
    await fillIn(tab, 'Only lines with', 'PLACED');
    await shows(tab, 'lines', [`${FIRST}: order 1 placed`, `${SECOND}: order 2 placed`]);
    await press(tab, '2 pods');
    await press(tab, FIRST);
    await shows(tab, 'lines', [`${SECOND}: order 2 placed`]);
    await press(tab, 'Save');
    expect(await saved()).toMatch(new RegExp(`${FIRST} checkout order 1 placed\n(.*\n)*.*order 1 paid\n`));
    expect(tab.complaints).toEqual([]);
  });

  test('the log before the restart of a container is a click away from how it ended', async () => {
    const stand = await startPage();
    const { objects } = stand.cluster;
    const pod = objects.get('pods', `shop/${FIRST}`);
    if (!pod) throw new Error(`there is no pod ${FIRST}`);
    write(stand, FIRST, 'about to fail', HOSTILE);
    const terminated = { exitCode: 3, reason: 'Error', finishedAt: '2026-01-02T03:04:05Z' };
    const [status] = (pod.status?.['containerStatuses'] ?? []) as readonly object[];
    const again = { ...status, restartCount: 1, lastState: { terminated } };
    objects.update('pods', { ...pod, status: { ...pod.status, containerStatuses: [again] } });
    write(stand, FIRST, 'after the restart');
    const tab = await openPage(running.browser, stand, 'ada', `/ui/resources/pods/shop/${FIRST}`);
    await reads(tab, 'Error (3)');
    await press(tab, 'Log before the restart');
    await holds(tab, `document.querySelector('dialog pre')?.innerText.includes('about to fail')`);
    const shown = String(await tab.page.evaluate(`document.querySelector('dialog pre').innerText`));
    expect(shown).toContain(SHOWN);
    expect(shown).not.toContain('after the restart');
    await expectHarmless(tab);
  });

  test('W-17 a line with markup, escape sequences and signs that turn its direction is text', async () => {
    const logStore = await startLogs();
    const stand = await startPage({ logStore });
    write(stand, FIRST, HOSTILE);
    logStore.add([stored('checkout-gone', HOSTILE)]);
    const tab = await openPage(running.browser, stand, 'ada', LIVE);
    await shows(tab, 'lines', [`${FIRST}: ${SHOWN}`]);
    await expectHarmless(tab);
    await visit(tab, '/ui/logs');
    await holds(tab, `document.querySelector('.log .text')?.innerText === ${JSON.stringify(SHOWN)}`);
    await expectHarmless(tab);
  });

  test('a search finds what pods have written that are gone, by words, and by a bar of the histogram', async () => {
    const logStore = await startLogs();
    const stand = await startPage({ logStore });
    logStore.add([
      stored('checkout-gone', 'ERROR order 7 failed: no answer', 40 * 60_000),
      ...['1', '2'].map((number) => stored(FIRST, `order ${number} placed`, 10 * 60_000)),
    ]);
    const tab = await openPage(running.browser, stand, 'ada', '/ui/logs');
    await reads(tab, '3 records of 2 containers');
    await fillIn(tab, 'Words', 'order 7 failed');
    await reads(tab, '1 record of 1 container');
    expect(await tab.page.evaluate(`document.querySelector('.log mark').innerText`)).toBe('order 7 failed');
    expect(await tab.page.evaluate('location.search')).toBe('?log_query=order+7+failed');
    await visit(tab, '/ui/logs');
    await reads(tab, '3 records of 2 containers');
    await holds(tab, `[...document.querySelectorAll('.histogram g')].some((bar) => /: 1 record$/.test(bar.ariaLabel))`);
    await tab.page.evaluate(
      `[...document.querySelectorAll('.histogram g')].find((bar) => /: 1 record$/.test(bar.ariaLabel)).focus()`,
    );
    await tab.page.keyboard.press('Enter');
    await reads(tab, '1 record of 1 container');
    expect(await tab.text()).toContain('checkout-gone');
    expect(await tab.page.evaluate('location.search')).toMatch(/^\?since=.*Z&until=.*Z$/);
    expect(tab.complaints).toEqual([]);
  });

  test('a search is followed, and all that it finds is saved', async () => {
    const logStore = await startLogs();
    const stand = await startPage({ logStore });
    logStore.add([stored('checkout-gone', 'order 7 failed')]);
    const tab = await openPage(running.browser, stand, 'ada', '/ui/logs');
    const saved = await takeDownloads(tab);
    await reads(tab, '1 record of');
    await press(tab, 'Follow');
    logStore.add([stored(FIRST, 'order 8 placed', 0)]);
    await reads(tab, 'order 8 placed');
    await reads(tab, '2 records');
    await visit(tab, '/ui/logs?range=6h');
    await reads(tab, '2 records');
    await press(tab, 'Download');
    expect((await saved()).trim().split('\n')).toEqual(['order 8 placed', 'order 7 failed']);
    await reads(tab, '2 lines.');
    expect(tab.complaints).toEqual([]);
  });
});
