import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import { Person } from '../tab.ts';
import { holds, openPage, press, reads, refuse, rowsOf, startPage, visit } from './page-stand.ts';

describe('what goes wrong', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  test.each([
    ['503', 503, 'The server cannot answer that now. made-up refusal'],
    ['no answer', 'abort', 'The server does not answer.'],
  ] as const)(
    'W-13 %s is said in words where the data is, which stays, and the page goes on by itself',
    async (_, status, words) => {
      const stand = await startPage();
      const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes?sort=name&asc=1');
      await reads(tab, '12 nodes');
      const goOn = await refuse(tab, '/nodes?', status);
      await tab.page.evaluate(`dispatchEvent(new Event('focus'))`);
      stand.cluster.objects.remove('nodes', 'worker-a-1');
      await reads(tab, words);
      expect((await rowsOf(tab)).length).toBe(12);
      await goOn();
      await reads(tab, '11 nodes');
      await holds(tab, `document.querySelector('.notice') === null`);
    },
  );

  test.each([
    ['finds no server', '/ui/s', 'abort', 'The server does not answer.'],
    ['hears from its server that it cannot read the session', '/ui/session', 503, 'made-up refusal'],
  ] as const)(
    'W-13 a page that %s at its start says so, and comes when the server does',
    async (_, part, how, words) => {
      const stand = await startPage();
      const tab = await openPage(running.browser, stand);
      const goOn = await refuse(tab, part, how);
      await tab.page.reload();
      await reads(tab, words);
      await goOn();
      await reads(tab, 'Overview');
    },
  );

  test('W-13 an answer that does not come is said to be slow, where it will be and at the start of the page', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/account');
    await refuse(tab, '/kapis/', 'hang');
    const says = (count: number): Promise<void> =>
      holds(tab, `document.body.innerText.split('The server is slow to answer.').length - 1 === ${count}`);
    for (const [path, count] of [
      ['/', 4], // nodes, pods, workloads, namespaces
      ['/ui/nodes', 1],
      ['/ui/resources/pods/shop/none', 1],
    ] as const) {
      await visit(tab, path);
      await says(count);
    }
    const following = await openPage(running.browser, stand, 'ada', '/ui/nodes');
    await holds(following, `document.querySelector('.live.on') !== null`);
    await refuse(following, '/nodes?', 'hang');
    stand.cluster.objects.remove('nodes', 'worker-a-1');
    await reads(following, 'The server is slow to answer.');
    await holds(following, `document.querySelector('.live') === null`);
    const starting = await (await Person.at(running.browser)).tab();
    await refuse(starting, '/ui/settings.json', 'hang');
    await starting.page.goto(stand.origin, { waitUntil: 'domcontentloaded' });
    await reads(starting, 'The server is slow to answer.');
  });

  test('W-13 the other views are loaded ahead: they open, and say what is wrong, while the server is away', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand);
    const files = `performance.getEntriesByType('resource').map(({ name }) => name.split('/').at(-1))`;
    for (const name of ['account', 'explorer', 'live-logs', 'users'])
      await holds(tab, `${files}.some((file) => file.startsWith('${name}-'))`);
    const goOn = await refuse(tab, '/', 'abort');
    await tab.page.evaluate(`document.querySelector('nav a[href="/ui/api"]').click()`);
    await reads(tab, 'The server does not answer.');
    expect(await tab.page.$eval('h1', (heading) => heading.textContent)).toBe('API');
    await tab.page.type('.top input', 'store');
    await holds(tab, `document.querySelector('.found p').innerText === 'The server does not answer.'`);
    await press(tab, 'ada', '.person');
    await press(tab, 'Sign out', '.person');
    await holds(tab, `document.querySelector('.menu [role=alert]')?.innerText === 'The server does not answer.'`);
    await goOn();
    await reads(tab, 'List nodes');
  });

  test('W-14, W-19 a refusal says which right is missing, as whom, who answered, and what to ask for', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'dana', '/ui/nodes');
    await reads(tab, 'You may not list nodes.');
    await tab.page.click('.notice button');
    await holds(tab, `document.querySelector('dialog[open]') !== null`);
    const said = String(
      await tab.page.$eval('dialog', (dialog) => (dialog as unknown as { innerText: string }).innerText),
    );
    for (const words of [
      'list',
      'nodes',
      'resources.gatehouse.io',
      'the whole cluster',
      'dana',
      'system:authenticated',
      'by an access review',
    ])
      expect(said).toContain(words);
    expect(said).toContain("kubectl create -f - <<'EOF'\n");
    expect(said).toContain('metadata: {name: list-nodes.resources.gatehouse.io}');
    expect(said).toContain('- apiGroups: ["resources.gatehouse.io"]\n  resources: ["nodes"]\n  verbs: ["list"]\nEOF\n');
    expect(said).toContain('kubectl create clusterrolebinding list-nodes.resources.gatehouse.io-dana ');
    await tab.page.keyboard.press('Escape');
    await holds(tab, `document.querySelector('dialog') === null && document.activeElement.innerText === 'Why?'`);
  });

  test('W-14 a person with two namespaces sees both as one list, and one without any right is told so on every view', async () => {
    const stand = await startPage();
    const dana = await openPage(running.browser, stand, 'dana', '/ui/resources/pods');
    await reads(dana, 'over the 2 namespaces that you may see');
    const namespaces = new Set(
      await dana.page.$$eval('[data-place] > :nth-child(2)', (cells) => cells.map((cell) => cell.textContent)),
    );
    expect([...namespaces].toSorted()).toEqual(['monitoring', 'shop']);
    await visit(dana, '/ui/namespaces/kube-system');
    await reads(dana, 'cannot get resource "namespaces"');
    const joe = await openPage(running.browser, stand, 'joe');
    await reads(joe, 'You may not list nodes.');
    await reads(joe, 'You may not list pods.');
    for (const path of [
      '/ui/nodes',
      '/ui/resources/deployments',
      '/ui/nodes/worker-a-1',
      '/ui/resources/pods/shop/none',
    ]) {
      await visit(joe, path);
      await reads(joe, 'You may not');
    }
    expect(joe.complaints).toEqual([]);
  });

  test('a filter that the server does not understand is refused in one sentence', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes?labels=a%3D%3D%3D');
    await reads(tab, 'The server refused that.');
    expect(await tab.page.$eval('.notice .said', (said) => said.textContent)).toBe(
      'invalid query parameter "labelSelector": found "=", expected "," or the end',
    );
  });

  test('an object that is gone, and an address without a view, say so', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes/no-such');
    await reads(tab, 'That does not exist (any more).');
    await visit(tab, '/ui/no-such-view/at/all');
    await reads(tab, 'Nothing here');
  });
});
