import {
  ADA,
  GRAFANA_CALLBACK,
  IVY,
  newDevice,
  newRequest,
  type Stand,
  startAccountStand,
  startStand,
} from './stand.ts';
import type { Tab } from './tab.ts';

/** Starts Gatehouse and brings a tab with an empty browser to a page. */
type Way = (tab: Tab) => Promise<unknown>;

const WRONG = { ...ADA, password: 'wrong' };

type Parameters = Readonly<Record<string, string>>;

async function open(tab: Tab, more: Parameters = {}): Promise<Stand> {
  const stand = await startStand();
  await tab.open((await newRequest(stand, more)).url);
  return stand;
}

async function tryInVain(tab: Tab, times: number): Promise<void> {
  await open(tab);
  for (let count = 0; count < times; count++) await tab.submit(WRONG);
}

/** Signs in, and goes on with another request. */
async function goOn(tab: Tab, more: Parameters): Promise<void> {
  const stand = await open(tab);
  await tab.submit(ADA);
  await tab.open((await newRequest(stand, more)).url);
}

async function proveFirstPassword(tab: Tab): Promise<void> {
  await tab.open((await newRequest(await startAccountStand())).url);
  await tab.submit(IVY);
}

async function signOut(tab: Tab): Promise<void> {
  const stand = await open(tab);
  await tab.submit(ADA);
  await tab.open(`${stand.issuer}/logout`);
}

async function enterDevice(tab: Tab): Promise<void> {
  await tab.open(`${(await startStand()).issuer}/device`);
  await tab.submit(ADA);
}

async function lookAtDevice(tab: Tab): Promise<void> {
  await tab.open((await newDevice(await startStand())).address);
  await tab.submit(ADA);
}

/** Every page that a person may see, by a name for files. */
export const PAGES: Readonly<Record<string, Way>> = {
  'sign-in': open,
  'wrong-password': (tab) => tryInVain(tab, 1),
  throttled: (tab) => tryInVain(tab, 6),
  'other-account': (tab) => goOn(tab, { prompt: 'login' }),
  'new-password': proveFirstPassword,
  'new-password-refused': async (tab) => {
    await proveFirstPassword(tab);
    await tab.submit({ password: 'short', repeated: 'short' });
  },
  consent: (tab) => goOn(tab, { client: 'grafana', redirect: GRAFANA_CALLBACK, scope: 'openid profile email groups' }),
  return: async (tab) => {
    await open(tab, { response_mode: 'form_post' });
    await tab.submit(ADA);
  },
  'return-in-vain': (tab) => open(tab, { response_mode: 'form_post', prompt: 'none' }),
  'lost-cookie': async (tab) => {
    await open(tab);
    const context = tab.page.browserContext();
    await context.deleteCookie(...(await context.cookies()));
    await tab.submit(ADA);
  },
  'unknown-client': async (tab) => {
    const { url } = await newRequest(await startStand());
    url.searchParams.set('client_id', 'nobody');
    await tab.open(url);
  },
  'sign-out': signOut,
  'signed-out': async (tab) => {
    await signOut(tab);
    await tab.submit();
  },
  'device-code': enterDevice,
  'device-code-refused': async (tab) => {
    await enterDevice(tab);
    await tab.submit({ user_code: 'AEIOU' });
  },
  device: lookAtDevice,
  'device-allowed': async (tab) => {
    await lookAtDevice(tab);
    await tab.submit({}, 'button[value=allow]');
  },
};
