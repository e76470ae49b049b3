import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BRANDS, startBrowser } from './browser.ts';
import { ADA, newDevice, startStand } from './stand.ts';
import { Person } from './tab.ts';

describe.each(BRANDS)('a person who allows a device with %s', (brand) => {
  let browser: Browser;
  let end = async (): Promise<void> => {};
  beforeAll(async () => {
    ({ browser, end } = await startBrowser(brand));
  });
  afterAll(() => end());

  /** A device, and a tab of a person who has an empty browser. */
  async function begin() {
    const stand = await startStand();
    return { stand, device: await newDevice(stand), tab: await (await Person.at(browser)).tab() };
  }

  test('D-02 D-03 signs in, types the code in lower case and with dashes, and the device is signed in', async () => {
    const { stand, device, tab } = await begin();
    const polled = device.poll();
    await tab.open(`${stand.issuer}/device`);
    await expect.poll(tab.look).toMatchObject({ heading: 'Sign in', focus: 'username' });
    await tab.submit(ADA);
    await expect.poll(tab.look).toMatchObject({ heading: 'Sign in on a device', focus: 'user_code', scripts: 0 });
    const typed = [...device.userCode.replace('-', '').toLowerCase()].join('-');
    await tab.submit({ user_code: typed }); // it waits for the next poll
    await expect.poll(tab.look).toMatchObject({ heading: 'Allow this device?', scripts: 0 });
    expect(await tab.text()).toMatch(
      new RegExp(`${device.userCode}.*television.*the groups.*127\\.0\\.0\\.1.*ada`, 's'),
    );
    await tab.submit({}, 'button[value=allow]');
    await expect.poll(tab.look).toMatchObject({ heading: 'The device may sign in', scripts: 0 });
    expect(await polled).toBe('ada');
    expect(tab.complaints).toEqual([]);
  });

  test('D-03 D-04 comes with the address that the device shows, and refuses', async () => {
    const { device, tab } = await begin();
    await tab.open(device.address);
    await tab.submit(ADA);
    await expect.poll(tab.look).toMatchObject({ heading: 'Allow this device?' });
    await tab.submit({}, 'button[value=deny]');
    await expect.poll(tab.look).toMatchObject({ heading: 'You have refused the device' });
    await expect(device.poll()).rejects.toMatchObject({ error: 'access_denied' });
    expect(tab.complaints).toEqual([]);
  });

  test('D-02 is told what a code looks like', async () => {
    const { stand, tab } = await begin();
    await tab.open(`${stand.issuer}/device`);
    await tab.submit(ADA);
    expect((await tab.submit({ user_code: 'AEIOU' })).status()).toBe(400);
    await expect.poll(tab.look).toMatchObject({
      ...{ alert: 'A code has eight letters, such as WDJB-MJHT.', focus: 'user_code' },
      fields: { user_code: 'AEIOU' },
    });
    expect(tab.complaints).toEqual([]);
  });
});
