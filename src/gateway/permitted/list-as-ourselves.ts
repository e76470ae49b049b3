import type { AskedPage, AskedQuery } from './asked-query.ts';
import { type ListPosition, writeContinue } from './continue-token.ts';
import type { ListEnd } from './list-as-caller.ts';
import type { SendPart } from './list-part.ts';
import type { Keeps, MergedList } from './merged-list.ts';

/** The most items that the cluster is asked for at once, as kubectl and client-go do. */
const PAGE = 500;
/** The most pages of the cluster for one page of the client. Without the limit a small scope could make one request read everything. */
const MOST_PAGES = 16;

interface ListAsOurselvesParts {
  readonly query: AskedQuery;
  readonly scopeId: string;
  readonly position: ListPosition | undefined;
  readonly into: MergedList;
  readonly keeps: Keeps;
  /** One request for a page of the list over the whole cluster. */
  send(page: AskedPage): SendPart;
}

/**
 * Lists the whole cluster by our own account, page by page, and passes on what is in the scope. With a `limit` a page of the client may
 * be shorter than that, which the API allows: it has what at most `MOST_PAGES` pages of the cluster have.
 */
export async function listAsOurselves(parts: ListAsOurselvesParts, signal: AbortSignal): Promise<ListEnd> {
  const { query, scopeId, position, into, keeps, send } = parts;
  let token = position?.token;
  let version = position?.version ?? '';
  for (let pages = 1; ; pages++) {
    const left = query.limit === 0 ? PAGE : query.limit - into.items;
    const limit = Math.min(PAGE, left);
    const page =
      token === undefined ? { version: query.version, versionMatch: query.versionMatch } : { continueToken: token };
    const part = await into.add(send({ limit, ...page }), keeps, signal);
    if (part.refused) return { refused: part.refused };
    version ||= part.version;
    token = part.token || undefined;
    if (token === undefined) {
      into.finish(version, undefined);
      return { version, isWhole: true };
    }
    if (query.limit === 0 || (pages < MOST_PAGES && into.items < query.limit / 2)) continue;
    into.finish(version, writeContinue({ scopeId, version, token }));
    return { version, isWhole: true };
  }
}
