import type { HeldKind } from '../../kinds/mirrors/held-kind.ts';
import type { Age, Lister } from '../../resources/cache.ts';
import type { Kind } from '../../resources/entries/kind.ts';
import type { Watch, WatchSource } from '../../resources/watch/watch.ts';
import { onAbort } from '../../runtime/abort.ts';
import { derived } from '../../runtime/derived.ts';
import type { Exchange } from '../exchange.ts';
import type { RouteFamily, RouteTools } from '../family.ts';
import type { UserSeats } from '../limits/user-seats.ts';
import { registerWatches } from '../metrics.ts';
import { listRoutes } from '../routes/lists.ts';
import { createVisibleNamespaces, createVisibleParts, type VisibleParts } from '../routes/visible-part.ts';
import { createRecheck, type Recheck } from '../watch/recheck.ts';
import { Watches, watchSeats } from '../watch/watches.ts';
import { kindRoutes, type ServedKinds } from './kind-routes.ts';
import { createPreparation, servicesReadBy } from './preparation.ts';
import { scopedRecheck } from './scoped-recheck.ts';
import { type ServedSearch, searchRoute } from './search-route.ts';
import { type ServedSummary, summaryRoute } from './summary-route.ts';

/** A kind, its list in memory and its watches. */
export interface ServedList {
  readonly kind: Kind;
  readonly lister: Lister;
  readonly watches: WatchSource;
  readonly age: Age;
  /** Absent: there is no summary of the list. */
  readonly summary?: ServedSummary | undefined;
}

/** What is made after the lists of the kinds that are always in memory. */
interface FurtherLists {
  /** All other kinds of the cluster. Absent: they are not served. */
  readonly kinds?: ServedKinds | undefined;
  /** Absent: there is no search. */
  readonly search?: ServedSearch | undefined;
}

/**
 * The lists and watches of all kinds. All watches share one limit. `further` is called once, when the routes are made. A path of a kind in
 * `lists` is never one of the kinds of the cluster.
 */
export const listFamily =
  (lists: readonly ServedList[], further: () => FurtherLists = () => ({})): RouteFamily =>
  (tools) => {
    const { clock, limits, metrics, registry, callerSteps, maxDecisionAgeMs, platform } = tools;
    const seats = watchSeats(limits, metrics);
    registerWatches(registry, seats);
    const recheck = createRecheck(callerSteps, clock, maxDecisionAgeMs);
    const { kinds, search } = further();
    // The console of KubeSphere waits for ever after a 403 (CO-16).
    const namespaces = kinds && createVisibleNamespaces(kinds.scopes, { mayBeNone: platform === 'kubesphere' });
    const watching = { tools, seats, recheck };
    const always = lists.flatMap((list) => {
      const visible = list.kind.resource === 'namespaces' ? namespaces : undefined;
      const watches = createWatches({ source: list.watches, age: list.age, visible }, watching);
      const summaries = list.summary ? [summaryRoute({ ...tools, ...list, summary: list.summary })] : [];
      return [...listRoutes({ ...tools, ...list, watches, visible }), ...summaries];
    });
    const searching = search ? [searchRoute({ ...tools, ...search })] : [];
    if (!kinds) return { routes: [...always, ...searching] };
    const visible = createVisibleParts(kinds.scopes, servicesReadBy);
    const { mirrors, catalog } = kinds;
    const prepare = createPreparation({ authorizer: tools.authorizer, mirrors, find: catalog.find });
    const watchesOf = derived(({ lister, stopped, clusterKind }: HeldKind) => {
      const prepared = (exchange: Exchange) => prepare(clusterKind, exchange);
      return createWatches({ source: lister, age: lister, visible, stopped, prepared }, watching);
    });
    return {
      routes: [...always, ...searching, ...kindRoutes({ ...tools, platform, kinds, visible, prepare, watchesOf })],
      listableKinds: kinds.catalog,
    };
  };

interface WatchedList {
  readonly source: WatchSource;
  readonly age: Age;
  readonly visible?: VisibleParts | undefined;
  /** Aborts when the list is no longer kept: its watches end. */
  readonly stopped?: AbortSignal;
  /** Rejects if the caller may not read what the filters of the request read of other kinds. */
  readonly prepared?: (exchange: Exchange) => undefined | Promise<unknown>;
}

interface WatchingParts {
  readonly tools: RouteTools;
  readonly seats: UserSeats;
  recheck(exchange: Exchange): Recheck;
}

function createWatches({ source, age, visible, stopped, prepared }: WatchedList, parts: WatchingParts): Watches {
  const { tools, seats } = parts;
  const recheck = (exchange: Exchange, watch: Watch): Recheck => {
    const checked = parts.recheck(exchange);
    const seen = visible ? scopedRecheck(checked, { exchange, watch }, { visible, clock: tools.clock }) : checked;
    if (!prepared) return seen;
    return async () => {
      await seen();
      await prepared(exchange);
    };
  };
  const closing = stopped ? eitherOf(tools.closing, stopped) : tools.closing;
  return new Watches({ ...tools, source, age, seats, recheck, closing });
}

/** Aborts with the first of the two. Unlike `AbortSignal.any`, it leaves nothing behind at the signal that lives longer. */
function eitherOf(long: AbortSignal, short: AbortSignal): AbortSignal {
  const either = new AbortController();
  const stopListening = onAbort(long, () => either.abort());
  onAbort(short, () => {
    stopListening();
    either.abort();
  });
  return either.signal;
}
