import { describe, expect, test } from 'vitest';
import { Browser, type Page } from '../../support/browser.ts';
import { passwordOf, startCluster, startService } from './stand.ts';

const APP = 'https://app.example.com/callback';
const CLIENTS = [{ name: 'asking', secret: 'made-up-asking', redirectURIs: [APP], grantMethod: 'prompt' }];
const ADA = { username: 'ada', password: passwordOf('ada') };

/** Every page that a person can get, by its name. */
async function everyPage(): Promise<Readonly<Record<string, Page>>> {
  const config = { authentication: { oauthOptions: { clients: CLIENTS } } };
  const { gatehouse } = await startService(await startCluster(), { config });
  const request = new URL(`${gatehouse.origin}/oauth/authorize?client_id=asking&response_type=code&scope=openid`);
  request.searchParams.set('redirect_uri', APP);
  const byForm = new URL(`${request}&response_mode=form_post&prompt=none`);
  const browser = new Browser();
  const signIn = await browser.open(request);
  const wrong = await browser.submit(signIn, { ...ADA, password: 'wrong' });
  const consent = await browser.submit(wrong, ADA);
  const signOut = await browser.open(new URL('/oauth/logout', request));
  return {
    'the sign-in page': signIn,
    'the page after a wrong password': wrong,
    'the consent page': consent,
    'the form for the client': await browser.open(byForm),
    'the page for an unknown client': await browser.open(new URL('?client_id=nobody', request)),
    'the page that asks before a sign-out': signOut,
    'the page after a sign-out': await browser.submit(signOut, {}),
  };
}

describe('B-23 A-48 every page', () => {
  test('B-23 refuses frames, scripts, referrers and caches', async () => {
    const pages = Object.entries(await everyPage());
    expect(pages.map(([, { status }]) => status)).toEqual([200, 400, 200, 200, 400, 200, 200]);
    for (const [name, { headers }] of pages) {
      const policy = headers['content-security-policy'];
      expect([name, headers]).toMatchObject([
        name,
        { 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' },
      ]);
      expect([name, policy]).toEqual([name, expect.stringMatching(/^default-src 'none';.* frame-ancestors 'none'$/)]);
      expect([name, policy]).toEqual([name, expect.not.stringMatching(/script|unsafe/)]);
    }
  });
});
