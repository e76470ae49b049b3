import { HUB_ADDRESS, type Hub, hubAddress, startHub } from './jupyterhub.ts';
import { clientsOfPage } from './settings-page.ts';
import { startWebStand, type WebStand } from './web-stand.ts';

const SECRET = 'made-up-secret-of-jupyterhub';

/** Gatehouse, and a JupyterHub for members of `team-a`. */
export interface HubStand extends WebStand {
  readonly hub: Hub;
  /** The page that a person sees who is signed in. */
  readonly home: string;
}

/** A hub for members of `team-a`, whose administrators are `admins`. Its access tokens live for a minute, the least that can be configured. */
export async function startHubStand(): Promise<HubStand> {
  const url = await hubAddress();
  const clients = clientsOfPage(SECRET, { [HUB_ADDRESS]: url.origin });
  const stand = await startWebStand(clients.map((client) => ({ ...client, accessTokenMaxAge: '1m' })));
  return { ...stand, hub: await startHub(url, stand, SECRET), home: `${url.origin}/hub/home` };
}
