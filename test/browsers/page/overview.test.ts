import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { aboutPod, populateEvents, seeEvent } from '../../../dev/cluster/population/events.ts';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import { holds, openPage, press, reads, refuse, rowsOf, startPage, visit } from './page-stand.ts';

const STOREFRONT = 'storefront-9hkbhhz9hj-bbsvw';

/** Warnings about some nodes and pods, and one about a pod of the storefront that was seen in two messages and seven times. */
function warn({ objects }: SimulatedCluster): void {
  const now = Date.now();
  populateEvents(objects, { now });
  const pod = objects.get('pods', `shop/${STOREFRONT}`);
  if (!pod) throw new Error(`there is no pod ${STOREFRONT}`);
  const said = { type: 'Warning', reason: 'Unhealthy', component: 'kubelet' } as const;
  seeEvent(objects, aboutPod(pod), { ...said, message: 'Readiness probe failed: <b>503</b>' }, now - 3_000, 4);
  seeEvent(objects, aboutPod(pod), { ...said, message: 'Readiness probe failed: <b>504</b>' }, now - 2_000, 3);
}

const cardOf = (heading: string): string =>
  `[...document.querySelectorAll('.card')].find((card) => card.innerText.startsWith('${heading}'))?.innerText.replaceAll(/\\s+/g, ' ').trim()`;

const WARNINGS = cardOf('Warning events');
const PODS = cardOf('Pods');
const WORKLOADS = cardOf('Workloads that are not ready');

describe('the overview', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  test('W-24 has the warnings of the last hour by reason and object, the newest first, with links', async () => {
    const stand = await startPage({ fill: warn });
    const tab = await openPage(running.browser, stand);
    await holds(tab, `${WARNINGS}?.includes('FailedScheduling')`);
    const said = String(await tab.page.evaluate(WARNINGS));
    expect(said).toMatch(
      new RegExp(`^Warning events of the last hour Unhealthy .*7 times Pod shop/${STOREFRONT} Readiness .*<b>504</b> `),
    );
    expect(said).not.toContain('503');
    expect(said).not.toContain('NodeNotReady');
    expect(said).toContain('ImageGCFailed');
    await press(tab, STOREFRONT, '.warnings');
    await holds(tab, `location.pathname === '/ui/resources/pods/shop/${STOREFRONT}'`);
    await reads(tab, 'Readiness probe failed: <b>503</b>');
    expect(tab.complaints).toEqual([]);
  });

  test('W-24 names workloads whose pods are not all ready, with their number, and how many are stopped', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand);
    await holds(tab, `${WORKLOADS}?.includes('Deployments:')`);
    expect(await tab.page.evaluate(WORKLOADS)).toMatch(/Deployments: 1 not ready · 1 stopped \d+\/\d+ shop search/);
    await press(tab, '1 stopped', '#view');
    await holds(tab, `location.search === '?status=stopped'`);
    await reads(tab, 'newsletter');
  });

  test('a node that is dead needs attention also when it takes no new pods', async () => {
    const stand = await startPage();
    const { objects } = stand.cluster;
    for (const node of objects.list('nodes'))
      if (['worker-c-3', 'worker-a-1'].includes(node.metadata.name))
        objects.update('nodes', { ...node, spec: { ...node.spec, unschedulable: true } });
    const tab = await openPage(running.browser, stand);
    const card = cardOf('Nodes');
    await holds(tab, `${card}.includes('worker-c-3')`);
    const said = String(await tab.page.evaluate(card));
    expect(said).toContain('9 of 12 nodes ready and schedulable');
    expect(said).toContain('3 nodes take no new pods');
    expect(said).toMatch(/Ready=Unknown( \+\d)? · No new pods/);
    expect(said).not.toContain('worker-a-1');
    expect(said).not.toContain('No node needs attention');
    objects.remove('nodes', 'worker-c-3');
    await holds(tab, `${card}.includes('No node needs attention')`);
    expect(tab.complaints).toEqual([]);
  });

  test('a cluster without nodes says that there are none, and names no filter', async () => {
    const stand = await startPage({ nodes: 0, podsPerNode: 0 });
    const tab = await openPage(running.browser, stand, 'ada', '/ui/nodes');
    await reads(tab, 'There is nothing here.');
    await visit(tab, '/ui/nodes?name=none');
    await reads(tab, 'Take a filter away');
  });

  test('W-24 says in one line what the reader may not see, with the reason, and that there is no gateway', async () => {
    const tab = await openPage(running.browser, await startPage({ fill: warn }), 'joe');
    await holds(tab, `${WARNINGS} === 'Warning events of the last hour You may not list events. Why?'`);
    await tab.page.click('.wide .denied-line button');
    await holds(tab, `document.querySelector('dialog')?.innerText.includes('kubectl create clusterrole list-events')`);
    const closed = await startPage({ config: { gateway: { enabled: true, users: ['ada'] } } });
    const outside = await openPage(running.browser, closed, 'dana');
    await holds(outside, `${WARNINGS} === 'Warning events of the last hour You may not do that. Why?'`);
    await outside.page.click('.wide .denied-line button');
    await holds(outside, `document.querySelector('dialog')?.innerText.includes('Gatehouse, by its own settings')`);
    const without = await startPage({ config: { gateway: { enabled: false } } });
    const other = await openPage(running.browser, without);
    await holds(other, `${WARNINGS}?.endsWith('does not have (gateway.enabled).')`);
  });

  test('W-24 has the warnings of the namespaces of a reader who may see few, and of no others', async () => {
    const tab = await openPage(running.browser, await startPage({ fill: warn }), 'dana');
    await holds(tab, `${WARNINGS}?.includes('FailedScheduling')`);
    const said = String(await tab.page.evaluate(WARNINGS));
    expect(said).toContain(`Pod shop/${STOREFRONT} Readiness`);
    expect(said).not.toMatch(/Node |may not/);
    await holds(tab, `${WORKLOADS}?.includes('shop search')`);
  });

  test('a Service leads to the pods that it selects', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/resources/services/shop/checkout');
    await press(tab, 'app.kubernetes.io/name=checkout, app.kubernetes.io/part-of=shop', '#view');
    await holds(tab, `location.search === '?serviceName=checkout&namespace=shop'`);
    await reads(tab, '2 pods');
    expect((await rowsOf(tab)).every((row) => row.startsWith('checkout-'))).toBe(true);
  });

  test('W-15 the heading of a view has a ring for those who come by the keyboard only', async () => {
    const tab = await openPage(running.browser, await startPage());
    const ring = `document.activeElement.tagName + ' ' + getComputedStyle(document.activeElement).outlineStyle`;
    await tab.page.click('nav.views a[href="/ui/namespaces"]');
    await holds(tab, `${ring} === 'H1 none'`);
    await tab.page.focus('nav.views a[href="/ui/nodes"]');
    await tab.page.keyboard.press('Enter');
    await holds(tab, `location.pathname === '/ui/nodes' && ${ring} === 'H1 solid'`);
  });

  test('W-24 does not say that no pod has failed before the server has said so', async () => {
    const stand = await startPage();
    const tab = await openPage(running.browser, stand, 'ada', '/ui/api');
    const goOn = await refuse(tab, 'status=Error', 503);
    await visit(tab, '/');
    await reads(tab, 'made-up refusal');
    await reads(tab, ' waiting');
    expect(await tab.page.evaluate(PODS)).not.toContain('failed');
    await goOn();
    await holds(tab, `${PODS}.includes(' failed') && !${PODS}.includes('made-up refusal')`);
  });
});
