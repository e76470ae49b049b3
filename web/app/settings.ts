/** What the server says about itself to the page, at `/ui/settings.json`. */
export interface Settings {
  readonly platform: string;
  readonly version: string;
  readonly features: {
    readonly logs: boolean;
    readonly accounts: boolean;
    readonly audit: boolean;
    readonly events: boolean;
    readonly gateway: boolean;
    readonly kinds: boolean;
    readonly nodeUsage: boolean;
    readonly permittedLists: boolean;
  };
}

let loaded: Settings | undefined;

/** The settings. They are there before anything is drawn. */
export function settings(): Settings {
  if (loaded === undefined) throw new Error('the settings are not loaded yet');
  return loaded;
}

/** A server that does not answer in this time counts as away, as for calls of the API. */
const LIMIT_MS = 40_000;

/** Loads the settings. Rejects if the server is away. */
export async function loadSettings(): Promise<Settings> {
  const answer = await fetch('/ui/settings.json', { signal: AbortSignal.timeout(LIMIT_MS) });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  loaded = (await answer.json()) as Settings;
  return loaded;
}

/** `/kapis/<group>.<platform>.io/<version>`, the root of a group of the API. */
const groupRoot = (group: string, version: string): string => `/kapis/${group}.${settings().platform}.io/${version}`;

export const resourcesRoot = (): string => groupRoot('resources', 'v1alpha3');
export const accountsRoot = (): string => groupRoot('iam', 'v1alpha2');
export const tenantRoot = (): string => groupRoot('tenant', 'v1alpha2');
