import { describe, expect, test } from 'vitest';
import type { Client } from '../../../../src/oauth/options.ts';
import { testOptions } from '../test-server.ts';
import { authorize, CALLBACK, decide, newBrowserServer, post, redeem, returned } from './sign-in-flow.ts';

const asking: Client = {
  ...{ name: 'web', secret: 'made-up-secret-of-web', public: false, grantMethod: 'prompt' },
  ...{ grantTypes: ['authorization_code', 'refresh_token'], postLogoutRedirectURIs: [] },
  redirectURIs: [CALLBACK, 'https://other.example.com/'],
};

const newAskingServer = () => newBrowserServer({ clients: [...testOptions.clients, asking] });

const ASKED = {
  ...{ kind: 'consent', clientId: 'web', signedIn: 'alice', scopes: ['openid', 'profile'], redirectURI: CALLBACK },
  otherAccount: expect.stringMatching(/^\/oauth\/authorize\?.*prompt=select_account(?:%20consent)?$/),
};

describe('a client that needs the consent of people', () => {
  test('B-17 gets a code when the person allows it, and is remembered in the session', async () => {
    const server = await newAskingServer();
    const page = await post(server, await authorize(server));
    expect(page).toMatchObject(ASKED);
    const answer = await decide(server, page, { session: page.session });
    expect(await redeem(server, returned(answer)['code'] ?? '')).toHaveProperty('id_token');
    expect(returned(await authorize(server, { prompt: 'none' }, answer.session))).toHaveProperty('code');
  });

  test('B-17 asks again for another scope, another address, and with prompt=consent', async () => {
    const server = await newAskingServer();
    const page = await post(server, await authorize(server));
    const { session } = await decide(server, page, { session: page.session });
    for (const change of [{ scope: 'openid' }, { redirect_uri: 'https://other.example.com/' }, { prompt: 'consent' }])
      expect(await authorize(server, change as Record<string, string>, session)).toMatchObject({ kind: 'consent' });
    expect(returned(await authorize(server, { scope: 'profile openid' }, session))).toHaveProperty('code');
  });

  test.each(['deny', '', 'ALLOW'])('B-17 is told access_denied when the person decides %j', async (decision) => {
    const server = await newAskingServer();
    const page = await post(server, await authorize(server));
    const answer = await decide(server, page, { session: page.session, decision });
    expect(returned(answer)).toMatchObject({ error: 'access_denied', state: 'state of web' });
    expect(await authorize(server, {}, page.session)).toMatchObject({ kind: 'consent' });
  });

  test('B-11 is told consent_required by a silent request', async () => {
    const server = await newAskingServer();
    const { session } = await post(server, await authorize(server));
    expect(returned(await authorize(server, { prompt: 'none' }, session))).toMatchObject({ error: 'consent_required' });
  });

  test('B-17 asks for every client with prompt=consent, once', async () => {
    const server = await newBrowserServer();
    const page = await post(server, await authorize(server, { prompt: 'consent' }));
    expect(page).toMatchObject(ASKED);
    expect(returned(await decide(server, page, { session: page.session }))).toHaveProperty('code');
  });

  test('B-17 gets nothing by the page of another session, of another browser, or of no person', async () => {
    const server = await newAskingServer();
    const page = await post(server, await authorize(server));
    const other = await post(server, await authorize(server));
    for (const session of [other.session, undefined, 'garbage'])
      expect(await decide(server, page, { session })).toMatchObject({
        ...{ kind: 'redirect', location: expect.stringMatching(/^\/oauth\/authorize\?/) },
      });
    const { session } = page;
    expect(await decide(server, page, { session, browser: 'browser-of-mallory-12' })).toMatchObject({ kind: 'fault' });
    const signInPage = await authorize(server);
    expect(await decide(server, signInPage, { session })).toMatchObject({ kind: 'redirect' });
  });
});
