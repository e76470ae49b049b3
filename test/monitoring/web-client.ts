import { type Answer, passwordOf, type Service } from '../integration/service/stand.ts';
import type { Browser } from '../support/browser.ts';

/** A client with a sign-in by browser, as it is configured. */
export const WEB = { name: 'web', secret: 'made-up-web', redirectURIs: ['https://app.example.com/callback'] };

/** The code with which Ada's browser comes back to the client. She enters her password if she is asked for it. */
export async function codeFor(service: Service, browser: Browser): Promise<string> {
  const request = new URLSearchParams({ client_id: WEB.name, response_type: 'code' });
  const page = await browser.open(new URL(`${service.gatehouse.origin}/oauth/authorize?${request}`));
  const isSignedIn = page.headers['location'] !== undefined;
  const form = { username: 'ada', password: passwordOf('ada') };
  const { headers } = isSignedIn ? page : await browser.submit(page, form);
  return new URL(headers['location'] ?? '').searchParams.get('code') ?? '';
}

export const redeem = (service: Service, code: string): Promise<Answer> =>
  service.call('/oauth/token', {
    form: { grant_type: 'authorization_code', client_id: WEB.name, client_secret: WEB.secret, code },
  });
