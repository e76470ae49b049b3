import { describe, expect, test } from 'vitest';
import { NODES } from '../integration/service/stand.ts';
import type { FormBrowser, Page } from '../support/form-browser.ts';
import { needs } from '../support/needs.ts';
import { SIGNED_OUT } from './apache.ts';
import { type ApacheStand, signedOutAt, startApacheStand } from './apache-stand.ts';
import { signInAt } from './web-stand.ts';

/** What the module tells about the session of this browser. It refreshes the tokens first if `isRefreshed`. */
async function session(app: ApacheStand, browser: FormBrowser, { isRefreshed = false } = {}): Promise<Session> {
  const refreshed = isRefreshed ? '&access_token_refresh_interval=0' : '';
  const page = await browser.open(new URL(`/oidc/callback?info=json${refreshed}`, app.url));
  return JSON.parse(page.text) as Session;
}

interface Session {
  readonly access_token: string;
  /** The claims. */
  readonly id_token: Readonly<Record<string, unknown>>;
  readonly userinfo: Readonly<Record<string, unknown>>;
}

/** The variables that the page of the application shows. */
const shown = ({ text }: Page): Record<string, string> =>
  Object.fromEntries(text.split('\n').map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]));

describe('mod_auth_openidc', () => {
  test('ID-02 ID-07 signs a person in, and gives the claims to the application', async (context) => {
    needs(context, 'mod_auth_openidc');
    const app = await startApacheStand();
    const browser = app.browser();
    const page = await signInAt(browser, app.url.href, 'ada');
    expect([page.status, page.url.href]).toEqual([200, app.url.href]);
    expect(shown(page)).toMatchObject({
      AUTH_TYPE: 'openid-connect',
      REMOTE_USER: 'ada',
      OIDC_CLAIM_aud: 'apache',
      OIDC_CLAIM_email: 'ada@example.com',
      OIDC_CLAIM_groups: 'admins,team-a',
    });
    const claims = { sub: 'ada', email: 'ada@example.com', email_verified: true, groups: ['admins', 'team-a'] };
    const { id_token, userinfo } = await session(app, browser);
    expect(userinfo).toEqual({ ...claims, name: 'ada', preferred_username: 'ada' });
    expect(id_token).toMatchObject({ ...claims, iss: app.issuer, aud: 'apache', nonce: expect.any(String) });
  });

  test('ID-01 refreshes its tokens, and takes the new ID token', async (context) => {
    needs(context, 'mod_auth_openidc');
    const app = await startApacheStand();
    const browser = app.browser();
    await signInAt(browser, app.url.href, 'ada');
    const first = await session(app, browser);
    const second = await session(app, browser, { isRefreshed: true });
    expect(second.access_token).not.toBe(first.access_token);
    const { sid, auth_time } = first.id_token;
    expect(second.id_token).toMatchObject({ sub: 'ada', sid, auth_time });
    expect(second.id_token).not.toHaveProperty('nonce');
    expect((await app.call(NODES, second.access_token)).status).toBe(200);
    expect(await session(app, browser)).toEqual(second);
  });

  test('lets nobody in who is in none of the required groups', async (context) => {
    needs(context, 'mod_auth_openidc');
    const app = await startApacheStand();
    expect((await signInAt(app.browser(), app.url.href, 'joe')).status).toBe(401);
  });

  test('T-31 signs a person out whose sessions have ended, and leads to the sign-in page again', async (context) => {
    needs(context, 'mod_auth_openidc');
    // Each request finds a token that ends within this time, and refreshes it.
    const app = await startApacheStand(['OIDCRefreshAccessTokenBeforeExpiry 86400 logout_on_error']);
    const browser = app.browser();
    const { OIDC_access_token = '' } = shown(await signInAt(browser, app.url.href, 'ada'));
    const next = shown(await browser.open(app.url));
    expect([next['REMOTE_USER'], next['OIDC_access_token'] === OIDC_access_token]).toEqual(['ada', false]);
    expect((await app.call('/oauth/logout?all=true', next['OIDC_access_token'] ?? '')).status).toBe(200);
    expect((await browser.open(app.url)).text).toContain('Logged Out');
    const page = await browser.open(app.url);
    expect([page.status, page.url.origin]).toEqual([200, new URL(app.issuer).origin]);
    expect(page.text).toContain('name="password"');
  });

  test('B-50 signs a person out at Gatehouse as well, and brings the browser back', async (context) => {
    needs(context, 'mod_auth_openidc');
    const app = await startApacheStand();
    const browser = app.browser();
    await signInAt(browser, app.url.href, 'ada');
    const { access_token } = await session(app, browser);
    const page = await browser.open(`/oidc/callback?logout=${encodeURIComponent(signedOutAt(app.url))}`, {
      url: app.url,
    });
    expect([page.status, page.url.href, page.text]).toEqual([200, signedOutAt(app.url), SIGNED_OUT]);
    expect((await app.call(NODES, access_token)).status).toBe(401);
    expect((await browser.open(app.url)).text).toContain('name="password"');
  });

  test('B-27 signs a person in to a second application without a password', async (context) => {
    needs(context, 'mod_auth_openidc');
    const app = await startApacheStand();
    const browser = app.browser();
    await signInAt(browser, app.url.href, 'ada');
    browser.forget('mod_auth_openidc_session');
    const page = await browser.open(app.url);
    expect([page.url.href, shown(page)['REMOTE_USER']]).toEqual([app.url.href, 'ada']);
  });

  test('B-05 takes a code by a form, which the person posts', async (context) => {
    needs(context, 'mod_auth_openidc');
    const app = await startApacheStand(['OIDCResponseMode form_post']);
    const browser = app.browser();
    const page = await signInAt(browser, app.url.href, 'ada');
    expect([page.status, page.url.origin]).toEqual([200, new URL(app.issuer).origin]);
    expect(shown(await browser.submit(page, {}))).toMatchObject({ REMOTE_USER: 'ada' });
  });

  test('B-05 B-15 shows the person an error, and which one if it comes by a form', async (context) => {
    needs(context, 'mod_auth_openidc');
    const silent = 'OIDCAuthRequestParams prompt=none';
    const redirected = await startApacheStand([silent]);
    const page = await redirected.browser().open(redirected.url);
    // It takes an answer with `iss` (RFC 9207) and without a code for a sign-in that the server begins.
    expect([page.url.origin, page.text.includes('target_link_uri')]).toEqual([redirected.url.origin, true]);
    const repeated = await startApacheStand([silent, 'OIDCDefaultURL http://localhost/']);
    expect((await repeated.browser().open(repeated.url)).status).toBe(503);
    const posted = await startApacheStand([silent, 'OIDCResponseMode form_post']);
    const browser = posted.browser();
    const refused = await browser.submit(await browser.open(posted.url), {});
    expect([refused.url.origin, refused.text]).toEqual([posted.url.origin, expect.stringMatching(/login_required/)]);
  });
});
