import { expect, onTestFinished, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { viewing } from '../../../dev/demo-rights.ts';
import { startBrowser } from '../browser.ts';
import { Person } from '../tab.ts';
import { asksForPassword, fillIn, openPage, press, reads, rowsOf, startLogs, startPage, stored } from './page-stand.ts';

const FIRST_PASSWORD = `document.querySelector('dialog pre')?.innerText`;
const OWN = 'Chosen-by-nina-1';

/** What the page is for, from a node in need to a person who may no longer come in. Each view is reached from the one before it. */
test('a person’s day: what is wrong with a node, what a pod that is gone has written, a user who comes and goes', async () => {
  const running = await startBrowser('Chromium');
  onTestFinished(() => running.end());
  const logStore = await startLogs();
  const fill = ({ objects }: SimulatedCluster): void => {
    for (const [kind, object] of viewing('nina', ['shop'])) objects.create(kind, object);
  };
  const stand = await startPage({ logStore, accounts: true, fill });
  logStore.add([stored('checkout-fdt6mntlfx-zzzzz', 'ERROR order 7 failed: no answer from payments', 20 * 60_000)]);

  const tab = await openPage(running.browser, stand);
  await reads(tab, '1 node needs attention');
  await reads(tab, 'Kubelet stopped posting node status.');
  await press(tab, 'worker-c-3', '#view');
  await reads(tab, '8 pods');
  expect(await tab.text()).toContain('NodeStatusUnknown');
  expect((await rowsOf(tab)).map((row) => row.split(' ')[0])).toContain('checkout-fdt6mntlfx-7cmw4');

  await press(tab, 'Resources', 'nav');
  await press(tab, 'Deployment', '#view');
  await press(tab, 'checkout', '#view');
  await reads(tab, '2 pods');
  await press(tab, 'Logs', 'h1');
  await reads(tab, 'ERROR order 7 failed: no answer from payments');
  expect(await tab.text()).toContain('checkout-fdt6mntlfx-zzzzz');

  await press(tab, 'Users and roles', 'nav');
  await press(tab, 'Invite a user');
  await fillIn(tab, 'Name', 'nina');
  await fillIn(tab, 'E-mail', 'nina@example.com');
  await press(tab, 'Create the user');
  await reads(tab, 'The user nina is created.');
  const password = String(await tab.page.evaluate(FIRST_PASSWORD));
  await press(tab, 'Close');

  const hers = await (await Person.at(running.browser)).tab();
  await hers.open(stand.origin);
  await asksForPassword(hers);
  await hers.submit({ username: 'nina', password });
  await expect.poll(hers.look).toMatchObject({ heading: 'Choose your own password' });
  await hers.submit({ password: OWN, repeated: OWN });
  await reads(hers, 'You may not list nodes.');
  await press(hers, 'nina', '.top');
  await press(hers, 'Resources', 'nav');
  await press(hers, 'Pod', '#view');
  await reads(hers, 'over the 1 namespace that you may see');
  await reads(hers, 'live');

  await press(tab, 'nina', '#view');
  await press(tab, 'Disable');
  await press(tab, 'Disable');
  await reads(tab, 'Enable');
  await hers.page.bringToFront();
  await asksForPassword(hers);
  await hers.submit({ username: 'nina', password: OWN });
  await expect.poll(hers.look).toMatchObject({ alert: 'The name or the password is not correct.' });
  expect([...tab.complaints, ...hers.complaints]).toEqual([]);
});
