import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { NODES } from '../integration/service/stand.ts';
import { waitFor } from '../support/waiting.ts';
import { type HubStand, startHubStand } from './jupyterhub-stand.ts';
import { signInAt } from './web-stand.ts';

/** The hub keeps groups in no order. */
const hasBoth = (groups: readonly string[]): boolean => [...groups].sort().join() === 'admins,team-a';

const tokenOf = async ({ hub }: HubStand): Promise<string> => (await hub.user('ada'))?.auth_state.access_token ?? '';

/** Waits until the token has ended. */
async function ended(token: string): Promise<void> {
  const endsAt = 1_000 * (decodeJwt(token).exp ?? 0);
  await waitFor(Date.now, (now) => now > endsAt, { turn: () => sleep(100), limitMs: 120_000 });
}

describe('JupyterHub with the generic class of oauthenticator', () => {
  test('ID-07 signs a person in with the groups of userinfo, by which it knows members and administrators', async () => {
    const stand = await startHubStand();
    const page = await signInAt(stand.browser(), stand.home, 'ada');
    expect([page.status, page.url.href]).toEqual([200, stand.home]);
    const user = await stand.hub.user('ada');
    expect(user).toMatchObject({ admin: true, groups: expect.toSatisfy(hasBoth) });
    expect(user?.auth_state.scope).toEqual(['openid', 'profile', 'email', 'groups']);
    expect(user?.auth_state.oauth_user).toEqual({
      ...{ sub: 'ada', name: 'ada', preferred_username: 'ada', email: 'ada@example.com', email_verified: true },
      groups: ['admins', 'team-a'],
    });
    expect((await signInAt(stand.browser(), stand.home, 'joe')).status).toBe(403);
    expect(await stand.hub.user('joe')).toBeUndefined();
  });

  test('B-51 leads a person who signs out to a page that asks whether to sign out at Gatehouse as well', async () => {
    const stand = await startHubStand();
    const browser = stand.browser();
    await signInAt(browser, stand.home, 'ada');
    const asked = await browser.open(new URL('/hub/logout', stand.home));
    expect([asked.url.href, asked.text.includes('Do you want to sign out?')]).toEqual([`${stand.issuer}/logout`, true]);
    await browser.submit(asked, {});
    expect((await browser.open(stand.home)).text).toContain('name="password"');
  });

  test('ID-01 refreshes an access token that has ended', async () => {
    const stand = await startHubStand();
    const browser = stand.browser();
    await signInAt(browser, stand.home, 'ada');
    const first = await tokenOf(stand);
    await ended(first);
    expect((await stand.call('/oauth/userinfo', first)).status).toBe(401);
    expect((await browser.open(stand.home)).url.href).toBe(stand.home);
    const second = await tokenOf(stand);
    expect(second).not.toBe(first);
    expect((await stand.call(NODES, second)).status).toBe(200);
  });

  test('T-31 leads a person to the sign-in page again whose sessions have ended', async () => {
    const stand = await startHubStand();
    const browser = stand.browser();
    await signInAt(browser, stand.home, 'ada');
    expect((await stand.call('/oauth/logout?all=true', await tokenOf(stand))).status).toBe(200);
    // The hub asks again whether the session goes on when a second is over.
    const page = await waitFor(
      () => browser.open(stand.home),
      ({ url }) => url.origin !== new URL(stand.home).origin,
      { turn: () => sleep(100), limitMs: 60_000 },
    );
    expect([page.status, page.text.includes('name="password"')]).toEqual([200, true]);
  });
});
