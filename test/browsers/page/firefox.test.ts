import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { startTlsFront } from '../../support/tls-front.ts';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import { Person, type Tab } from '../tab.ts';
import {
  asksForPassword,
  holds,
  type PageStand,
  press,
  reads,
  rowsOf,
  signIn,
  startPage,
  watchPolicy,
} from './page-stand.ts';

/** A pod of the deployment `checkout`. */
const POD = 'checkout-fdt6mntlfx-7cmw4';
const HOSTILE = '<img src=x onerror="window.owned=1"><b>bold</b>';

/** Behind something that ends TLS, whose address is that of the issuer. */
async function startBehindTls(): Promise<PageStand> {
  const [port = 0] = await freePorts(1);
  const front = await startTlsFront(port, selfSigned('gatehouse.test'));
  atEnd(() => front.stop());
  const origin = `https://gatehouse.test:${front.port}`;
  const config = { server: { port }, authentication: { oauthOptions: { issuer: `${origin}/oauth` } } };
  return { ...(await startPage({ config })), origin };
}

describe('the page in Firefox', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Firefox');
  });
  afterAll(() => running.end());

  /** A tab in which Ada has signed in, and what the policy has forbidden in it. */
  async function open(stand: PageStand, path: string): Promise<{ tab: Tab; violations(): Promise<unknown> }> {
    const tab = await (await Person.at(running.browser)).tab();
    const violations = await watchPolicy(tab);
    await signIn(tab, stand, 'ada', path);
    return { tab, violations };
  }

  test.each(['http', 'https'] as const)(
    'W-04, W-05, W-09, W-10 by %s a person signs in, sees a table that follows the cluster, opens an object and signs out',
    async (scheme) => {
      const stand = scheme === 'http' ? await startPage() : await startBehindTls();
      const { tab, violations } = await open(stand, '/ui/nodes?sort=name&asc=1');
      await reads(tab, '12 nodes');
      await reads(tab, 'live');
      expect((await rowsOf(tab))[0]).toContain('control-plane-1');
      stand.cluster.objects.remove('nodes', 'worker-a-1');
      await reads(tab, '11 nodes');
      await press(tab, 'worker-c-3', '#view');
      await reads(tab, '8 pods');
      expect([tab.complaints, await violations()]).toEqual([[], []]);
      await tab.page.evaluate(`document.querySelector('h1').setAttribute('style', 'color: red')`);
      expect(await violations()).toEqual([['style-src-attr', 'inline']]);
      await press(tab, 'ada', '.top');
      await press(tab, 'Sign out', '.top');
      await asksForPassword(tab);
      expect((await tab.look()).path).toBe('/oauth/sign-in');
      const cookies = await tab.page.browserContext().cookies();
      expect(cookies.filter(({ name }) => name.endsWith('gatehouse-session'))).toEqual([]);
    },
  );

  test('W-17, W-18 the lines of a workload come as they are written, and none of them is markup', async () => {
    const stand = await startPage();
    const write = (text: string): void => stand.cluster.podLogs.write(`shop/${POD}`, 'checkout', text);
    write('order 1 placed');
    const { tab, violations } = await open(stand, '/ui/live-logs/deployments/shop/checkout');
    await reads(tab, 'order 1 placed');
    write(HOSTILE);
    await reads(tab, HOSTILE);
    expect(await tab.page.evaluate('window.owned')).toBeUndefined();
    await holds(tab, `document.querySelectorAll('main img, main b').length === 0`);
    expect([tab.complaints, await violations()]).toEqual([[], []]);
  });
});
