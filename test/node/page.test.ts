import type { V1Pod, V1PodList } from '@kubernetes/client-node';
import type { HTTPRequest } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningBrowser, startBrowser } from '../browsers/browser.ts';
import { holds, press, reads, rowsOf, watchPolicy } from '../browsers/page/page-stand.ts';
import { Person, type Tab } from '../browsers/tab.ts';
import { eventually } from '../cluster/eventually.ts';
import { NODE_ADDRESS, NODE_NAME } from './kubernetes/place.ts';
import { GatewayStand, passwordOf, SERVER_NAME } from './stand/gateway-stand.ts';
import { get } from './stand/kubectl.ts';
import { writeProgramInPod } from './stand/pod-network.ts';
import type { Way } from './stand/way.ts';
import { BENCH, deployment, list, shell } from './stand/workload.ts';

/** Writes one line at once, and another one when it is told to. */
const PRINTS = 'echo begun; until [ -e /tmp/go ]; do /bin/busybox sleep 0.1; done; echo late; exec sleep 3600';

let stand: GatewayStand;
let way: Way;
/** In the network of a pod, because it breaks off what it loads when interfaces come and go, as those of pods do on the node. */
let running: RunningBrowser;
beforeAll(async () => {
  stand = await GatewayStand.start('page');
  way = (await stand.ways('olga')).through;
  await way.told(['create', '-f', '-'], { input: list(BENCH) });
  await way.untilReady('bench');
  const program = stand.path('chromium');
  await writeProgramInPod(await get<V1Pod>('pod', '-n', way.namespace, 'bench'), program, 'chromium');
  running = await startBrowser('Chromium', { names: { [SERVER_NAME]: NODE_ADDRESS }, program });
});
afterAll(async () => {
  await running?.end();
  await stand?.remove();
});

/** A tab that keeps what its page asks for and what the policy of the page forbids it. */
async function watchedTab() {
  const tab = await (await Person.at(running.browser)).tab();
  const asked: string[] = [];
  tab.page.on('request', (request: HTTPRequest) => void asked.push(new URL(request.url()).origin));
  const violations = await watchPolicy(tab);
  return { tab, asked, violations };
}

/** Resolves when the sign-in asks for a password. The page leads there by itself, and a wait inside of the page could be lost on the way. */
const untilAsked = ({ page }: Tab): Promise<unknown> =>
  eventually(
    () => page.evaluate(`document.querySelector('input#password') !== null`).catch(() => false),
    (isAsked) => isAsked === true,
  );

/** Goes by the first link of a view or of its title that says this. */
const goTo = (tab: Tab, words: string): Promise<void> => press(tab, words, '#view');

test('W-07, W-09, W-10, W-18 a person signs in at the chart’s Service, sees the node and a pod, and reads what a deployment writes now', async () => {
  await way.told(['create', '-f', '-'], { input: list(deployment('printer', { command: shell(PRINTS) })) });
  await way.told(['rollout', 'status', 'deployment/printer', '--timeout=2m']);
  const { items } = await get<V1PodList>('pods', '-n', way.namespace, '-l', 'app=printer');
  const pod = items[0]?.metadata?.name ?? '';
  const origin = `https://${SERVER_NAME}:${new URL(stand.caller.url).port}`;

  const { tab, asked, violations } = await watchedTab();
  await tab.open(origin);
  await untilAsked(tab);
  await tab.submit({ username: 'olga', password: passwordOf('olga') });
  await tab.page.waitForSelector('nav.views');
  await press(tab, 'Nodes', 'nav');
  await reads(tab, '1 node');
  await holds(tab, `document.querySelectorAll('[role=row][data-place]').length === 1`);
  expect((await rowsOf(tab))[0]).toContain(NODE_NAME);
  await reads(tab, 'live');
  await goTo(tab, NODE_NAME);
  await reads(tab, 'containerd://');

  await press(tab, 'Resources', 'nav');
  await goTo(tab, 'Deployment');
  await goTo(tab, 'printer');
  const view = await tab.page.evaluate('location.pathname');
  await goTo(tab, pod);
  await reads(tab, 'Running');
  await tab.back();
  await holds(tab, `location.pathname === ${JSON.stringify(view)}`);
  await press(tab, 'Live logs', 'h1');
  await reads(tab, 'begun');
  expect(await tab.text()).not.toContain('late');
  await way.told(['exec', pod, '--', ...shell(': > /tmp/go')]);
  await reads(tab, 'late');

  expect(tab.complaints).toEqual([]);
  expect(await violations()).toEqual([]);
  expect(new Set(asked)).toEqual(new Set([origin]));
});
