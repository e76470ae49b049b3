import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.ts';
import { pageFamily } from '../http/page/page-family.ts';
import { INDEX, type PageFiles } from '../http/page/page-files.ts';
import type { PageSessions } from '../oauth/authorize/page-sessions.ts';
import { areEventsLive } from './documents/documents.ts';
import type { Family } from './family.ts';

export interface PageParts {
  /** The built page; absent if there is none. */
  readonly page?: PageFiles | undefined;
  readonly release: { readonly version: string };
  readonly sessions: Pick<PageSessions, 'renew' | 'signOut'>;
}

/** Reads a built page with all that is below its folder. `undefined`: the folder has no page. */
export function readPageFiles(folder: URL): PageFiles | undefined {
  const top = fileURLToPath(folder);
  try {
    const files = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = files.map(({ parentPath, name }) => join(parentPath, name));
    const page = new Map(paths.map((path) => [relative(top, path).replaceAll(sep, '/'), readFileSync(path)]));
    return page.has(INDEX) ? page : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** For those too who have not heard of the page: it is on by default. */
const NOT_BUILT = 'page.enabled: the page is not built; run npm run build, or set page.enabled to false';

/** The page. Throws with one sentence if it is not built. */
export function createPage(config: Config, { page, release, sessions }: PageParts): Family {
  if (!page) throw new Error(NOT_BUILT);
  const { accounts, auditing, authentication, events, gateway, kinds, logging, nodes } = config;
  const features = {
    accounts: accounts.enabled,
    audit: auditing.host !== undefined,
    events: events.host !== undefined || areEventsLive(config),
    gateway: gateway.enabled,
    kinds: kinds.enabled,
    logs: logging.host !== undefined,
    nodeUsage: nodes.usage,
    permittedLists: gateway.enabled && gateway.permittedLists,
  };
  return {
    routes: pageFamily({
      ...{ files: page, version: release.version, features, sessions },
      issuer: authentication.oauthOptions.issuer,
    }),
  };
}
