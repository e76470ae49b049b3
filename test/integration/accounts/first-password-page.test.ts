import { expect, test } from 'vitest';
import { startWriteStand, UNINITIALIZED } from '../../support/accounts/write-stand.ts';
import { Browser } from '../../support/browser.ts';
import { quickBcrypt } from '../../support/passwords.ts';

const FIRST = 'The-first-one-1';
const OWN = 'My-own-choice-1';
const APP = 'https://app.example.com/callback';
const CLIENT = { name: 'web', secret: 'made-up-web', redirectURIs: [APP] };
const GATEHOUSE = { name: 'gatehouse', secret: 'gatehouse' };

test('B-26 a person with a first password chooses another one on the page, and is signed in', async () => {
  const config = { authentication: { oauthOptions: { clients: [GATEHOUSE, CLIENT] } } };
  const stand = await startWriteStand({ bcrypt: quickBcrypt, config });
  try {
    await stand.made('ivy', { spec: { password: FIRST }, annotations: { [UNINITIALIZED]: 'true' } });
    const earlier = await stand.newToken('ivy', FIRST);
    const url = new URL(`http://127.0.0.1:${stand.gatehouse.port}/oauth/authorize?client_id=web&response_type=code`);
    const browser = new Browser();
    const page = await browser.submit(await browser.open(url), { username: 'ivy', password: FIRST });
    expect([page.status, page.text.includes('Choose your own password')]).toEqual([200, true]);
    const weak = await browser.submit(page, { password: 'short', repeated: 'short' });
    expect(weak.status).toBe(400);
    expect(weak.text).toContain('<p>The password needs at least 8 characters.</p>');
    const answer = await browser.submit(weak, { password: OWN, repeated: OWN });
    expect([answer.status, answer.headers['location']]).toEqual([303, expect.stringMatching(`^${APP}\\?code=`)]);
    const code = new URL(answer.headers['location'] ?? '').searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', client_id: 'web', client_secret: 'made-up-web', code };
    const token = await fetch(new URL('/oauth/token', url), { method: 'POST', body: new URLSearchParams(form) });
    expect(token.status).toBe(200);
    expect((await stand.ask('GET', '/oauth/userinfo', { token: earlier })).status).toBe(401);
    expect([(await stand.signIn('ivy', FIRST)).status, (await stand.signIn('ivy', OWN)).status]).toEqual([400, 200]);
    const [kept] = stand.cluster.objects.list('users').filter(({ metadata }) => metadata.name === 'ivy');
    expect(kept?.metadata.annotations).not.toHaveProperty(UNINITIALIZED);
    const late = await browser.submit(page, { password: OWN, repeated: OWN });
    expect([late.status, late.headers['location']]).toEqual([303, expect.stringMatching('^/oauth/authorize')]);
  } finally {
    await stand.stop();
  }
});
