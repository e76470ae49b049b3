import { ADA, newRequest, type Stand } from './stand.ts';
import type { Tab } from './tab.ts';

/** Brings a tab to a page. */
type Way = (tab: Tab, stand: Stand) => Promise<unknown>;

const open =
  (more: Readonly<Record<string, string>> = {}): Way =>
  async (tab, stand) =>
    tab.open((await newRequest(stand, more)).url);

const WRONG = { ...ADA, password: 'wrong' };

async function tryInVain(tab: Tab, stand: Stand, times: number): Promise<void> {
  await open()(tab, stand);
  for (let count = 0; count < times; count++) await tab.submit(WRONG);
}

async function loseCookie(tab: Tab, stand: Stand): Promise<void> {
  await open()(tab, stand);
  const context = tab.page.browserContext();
  await context.deleteCookie(...(await context.cookies()));
  await tab.submit(ADA);
}

/** Every page that a person may see, by a name for files, and how to get there with an empty browser. */
export const PAGES: Readonly<Record<string, Way>> = {
  'sign-in': open(),
  'wrong-password': (tab, stand) => tryInVain(tab, stand, 1),
  throttled: (tab, stand) => tryInVain(tab, stand, 6),
  'lost-cookie': loseCookie,
  'unknown-client': async (tab, stand) => {
    const { url } = await newRequest(stand);
    url.searchParams.set('client_id', 'nobody');
    await tab.open(url);
  },
  return: async (tab, stand) => {
    await open({ response_mode: 'form_post' })(tab, stand);
    await tab.submit(ADA);
  },
  'return-in-vain': open({ response_mode: 'form_post', prompt: 'none' }),
};
