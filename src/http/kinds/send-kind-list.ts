import type { Annotate } from '../../kinds/claim-annotations.ts';
import type { HeldKind } from '../../kinds/mirrors/held-kind.ts';
import type { ObjectReader } from '../../kinds/object-reader.ts';
import type { Representation } from '../../resources/bytes/representation.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import type { ListQuery } from '../../resources/query/list-query.ts';
import type { Within } from '../../resources/query/within.ts';
import { badRequest } from '../../status-error.ts';
import type { AnswerHeaders } from '../answer/answer.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Exchange } from '../exchange.ts';
import type { RouteTools } from '../family.ts';
import { LIST_HEADERS } from '../routes/lists.ts';

/** The largest page of a kind that is held by its fields: each object is a read at the cluster. */
const MOST_READ = 500;

export interface KindListParts extends Pick<RouteTools, 'writer' | 'deadline'> {
  readonly objects: Pick<ObjectReader, 'entries' | 'page'>;
}

/** What a caller asked for, and may see, of a kind in memory. */
export interface AskedList {
  readonly query: ListQuery;
  readonly within: Within | undefined;
  /** Headers that follow from `within`. */
  readonly further: AnswerHeaders | undefined;
  /** Absent: the objects are shown as they are. */
  readonly annotate?: Annotate | undefined;
}

/** Answers with the list of a kind in memory: from memory if it is held whole, else with the objects of the page read from the cluster. */
export function sendKindList(
  { writer, deadline, objects }: KindListParts,
  exchange: Exchange,
  held: HeldKind,
  { query, within, further, annotate }: AskedList,
): void | Promise<void> {
  if (query.timeoutMs !== undefined) deadline.check(exchange);
  const { lister } = held;
  const headers = { ...LIST_HEADERS, staleSeconds: lister.staleSeconds(), further, deadline };
  if (held.way === 'whole' && !annotate) {
    return sendRepresentation(writer, exchange, { ...headers, representation: lister.list(query, within) });
  }
  const { entries, total } = lister.select(query, within);
  const read = (): readonly Entry[] | Promise<readonly Entry[]> => {
    if (held.way === 'whole') return entries;
    checkPageLength(held, entries);
    return objects.entries(held.clusterKind, entries, exchange.signal);
  };
  const made = async (): Promise<Representation> => {
    const present = await read();
    return objects.page({ entries: (await annotate?.(present)) ?? present, total, scope: within?.id });
  };
  return deadline
    .allowed(made(), exchange)
    .then((representation) => sendRepresentation(writer, exchange, { ...headers, representation }));
}

/** Throws the 400 of a page with so many objects that they cannot be read one by one. */
export function checkPageLength({ clusterKind: { resource } }: HeldKind, entries: readonly unknown[]): void {
  if (entries.length <= MOST_READ) return;
  throw badRequest(
    `${resource} are held by their fields, because of kinds.memory: ask for pages of at most ${MOST_READ} with "limit"`,
  );
}
