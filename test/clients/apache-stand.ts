import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { apacheAddress, startApache } from './apache.ts';
import { blockBelow, clientsOfPage, ISSUER } from './settings-page.ts';
import { startWebStand, type WebStand } from './web-stand.ts';

const SECRET = 'made-up-secret-of-apache';

/** Gatehouse, and an Apache whose pages are for members of `admins`. */
export interface ApacheStand extends WebStand {
  readonly url: URL;
}

/** A page that everybody may see. */
export const signedOutAt = ({ origin }: URL): string => `${origin}/signed-out.html`;

/** Apache with the module as docs/browser-sign-in.md sets it up, in front of pages for members of `admins`. */
export async function startApacheStand(more: readonly string[] = []): Promise<ApacheStand> {
  const url = await apacheAddress();
  const own = { 'https://app.example.com': url.origin };
  const stand = await startWebStand(clientsOfPage(SECRET, own));
  await chmod(dirname(stand.caFile), 0o755);
  await chmod(stand.caFile, 0o644);
  const settings = blockBelow('mod_auth_openidc', { ...own, [ISSUER]: stand.issuer, 'change-me\n': `${SECRET}\n` });
  const forTests = [`OIDCCABundlePath ${stand.caFile}`, 'OIDCInfoHook access_token id_token userinfo session'];
  await startApache(url, [settings, ...forTests, ...more]);
  return { ...stand, url };
}
