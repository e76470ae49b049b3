import type { PermittedScopes } from '../../authorization/permitted-scope.ts';
import type { KindCatalog } from '../../kinds/catalog/kind-catalog.ts';
import type { Annotate } from '../../kinds/claim-annotations.ts';
import type { HeldKind } from '../../kinds/mirrors/held-kind.ts';
import type { HeldKinds } from '../../kinds/mirrors/held-kinds.ts';
import type { ObjectReader } from '../../kinds/object-reader.ts';
import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';
import type { Kind } from '../../resources/entries/kind.ts';
import { createListQueryParser } from '../../resources/query/list-query.ts';
import type { Within } from '../../resources/query/within.ts';
import { createWatchQueryParser } from '../../resources/watch/watch-query.ts';
import type { WatchVersion } from '../../resources/watch/watch-version.ts';
import { derived } from '../../runtime/derived.ts';
import { notFound, serviceUnavailable } from '../../status-error.ts';
import { chooseStreamForm } from '../answer/accept.ts';
import { notAcceptable } from '../answer/refusals.ts';
import { sendRepresentation } from '../answer/send-representation.ts';
import type { Exchange, Handler, Route } from '../exchange.ts';
import type { RouteTools } from '../family.ts';
import { allowedMs, LIST_HEADERS } from '../routes/lists.ts';
import { scopeHeaders, type VisibleParts } from '../routes/visible-part.ts';
import type { Watches } from '../watch/watches.ts';
import { createAskedKinds } from './asked-kind.ts';
import type { Preparation } from './preparation.ts';
import { sendKindList } from './send-kind-list.ts';

/** What the routes need of the kinds of the cluster. */
export interface ServedKinds {
  readonly catalog: Pick<KindCatalog, 'resolve' | 'kinds' | 'find'>;
  readonly mirrors: HeldKinds;
  readonly scopes: PermittedScopes;
  readonly objects: ObjectReader;
  /** What answers add to the objects of the kind. `undefined`: nothing. */
  annotations(kind: ClusterKind): Promise<Annotate> | undefined;
  /** The kind as the list engine reads queries about it, whole. */
  kindValueOf(kind: ClusterKind): Kind;
}

export interface KindRouteParts extends Pick<RouteTools, 'platform' | 'writer' | 'deadline'> {
  readonly kinds: ServedKinds;
  readonly visible: VisibleParts;
  readonly prepare: Preparation;
  /** The watches of a kind in memory. */
  watchesOf(held: HeldKind): Watches;
}

/** The routes that list, get and watch every kind of the cluster that has no route of its own. */
export function kindRoutes(parts: KindRouteParts): Route[] {
  const { platform, kinds } = parts;
  const asked = createAskedKinds(kinds.catalog);
  const root = `/kapis/resources.${platform}.io/v1alpha3`;
  const reads = new KindReads(parts, asked.of);
  const common = {
    access: 'authorized',
    admission: 'other',
    produces: 'json',
    allowedMs,
    resolve: asked.step,
  } as const;
  const collection = {
    ...common,
    methods: { GET: reads.list, HEAD: reads.list },
    watch: reads.watch,
    narrows: (exchange: Exchange) => mayNarrow(exchange, asked.of(exchange)),
  };
  const object = { ...common, methods: { GET: reads.get, HEAD: reads.get } };
  return [
    { ...collection, template: `${root}/{resources}` },
    { ...object, template: `${root}/{resources}/{name}` },
    { ...collection, template: `${root}/namespaces/{namespace}/{resources}` },
    { ...object, template: `${root}/namespaces/{namespace}/{resources}/{name}` },
  ];
}

/** A list or watch over all namespaces may become one over those where the caller has the right. */
const mayNarrow = ({ signedIn: { info } }: Exchange, { namespaced }: ClusterKind): boolean =>
  namespaced && info.namespace === '' && (info.verb === 'list' || info.verb === 'watch');

class KindReads {
  readonly #parts: KindRouteParts;
  readonly #askedOf: (exchange: Exchange) => ClusterKind;
  readonly #visible: VisibleParts;
  readonly #prepare: Preparation;
  readonly #parsersOf: (kind: ClusterKind) => Parsers;

  constructor(parts: KindRouteParts, askedOf: (exchange: Exchange) => ClusterKind) {
    this.#parts = parts;
    this.#askedOf = askedOf;
    this.#visible = parts.visible;
    this.#prepare = parts.prepare;
    this.#parsersOf = derived((kind) => toParsers(parts.kinds.kindValueOf(kind)));
  }

  readonly list: Handler = (exchange) => {
    const within = this.#visible.of(exchange);
    return within instanceof Promise
      ? within.then((part) => this.#listPart(exchange, part))
      : this.#listPart(exchange, within);
  };

  #listPart(exchange: Exchange, within: Within | undefined): void | Promise<void> {
    const { kinds, platform } = this.#parts;
    const lists = { ...this.#parts, objects: kinds.objects };
    const kind = this.#askedOf(exchange);
    const query = this.#parsersOf(kind).list(exchange.target.query);
    const prepared = this.#prepare(kind, exchange);
    const held = prepared instanceof Promise ? prepared.then(() => kinds.mirrors.hold(kind)) : kinds.mirrors.hold(kind);
    const further = scopeHeaders(platform, within);
    const send = (one: HeldKind, annotate?: Annotate): void | Promise<void> =>
      sendKindList(lists, exchange, one, { query, within, further, annotate });
    const annotations = kinds.annotations(kind);
    if (annotations) return Promise.all([held, annotations]).then(([one, annotate]) => send(one, annotate));
    return held instanceof Promise ? held.then((one) => send(one)) : send(held);
  }

  readonly get: Handler = async (exchange) => {
    const { kinds, writer } = this.#parts;
    const kind = this.#askedOf(exchange);
    const { namespace, name } = exchange.signedIn.info;
    const annotate = await kinds.annotations(kind);
    const held = kinds.mirrors.held(kind);
    const inMemory = held?.way === 'whole' && !annotate ? held.lister : undefined;
    const representation = inMemory
      ? inMemory.get(namespace === '' ? name : `${namespace}/${name}`)
      : await kinds.objects.one(kind, { namespace, name }, exchange.signal, annotate);
    if (!representation) throw notFound(kind.resource, name);
    const staleSeconds = inMemory?.staleSeconds();
    return sendRepresentation(writer, exchange, { ...LIST_HEADERS, representation, staleSeconds });
  };

  readonly watch: Handler = async (exchange) => {
    const { kinds, watchesOf, platform } = this.#parts;
    const { accept, 'last-event-id': lastEventId } = exchange.request.headers;
    const chosen = chooseStreamForm(accept);
    if (!chosen) throw notAcceptable('text/event-stream');
    const { form, metadataOnly } = chosen;
    const kind = this.#askedOf(exchange);
    const within = await this.#visible.of(exchange);
    const known = form === 'events' ? String(lastEventId ?? '') : undefined;
    const query = this.#parsersOf(kind).watch(exchange.target.query, known);
    const read = await this.#prepare(kind, exchange);
    const held = await kinds.mirrors.hold(kind, query.initialEvents ? undefined : knownVersion(query.from));
    if (held.way === 'fields' && !metadataOnly) throw metadataOnlyHeld(kind.resource);
    exchange.atEnd(held.watched());
    // The watch looks at a selector when it first comes to a namespace, which may be later than Services would stay by themselves.
    if (read) exchange.atEnd(read.watched());
    const asked = { ...query, metadataOnly, ...(within ? { within } : {}) };
    watchesOf(held).open(exchange, asked, form, scopeHeaders(platform, within));
  };
}

/** The cluster's version up to which the client knows all objects. `undefined`: there is none, or there were no objects. */
function knownVersion(from: WatchVersion | undefined): string | undefined {
  const newest = from?.kind === 'cluster' ? from.complete?.objects.newest : undefined;
  return newest === '0' ? undefined : newest;
}

interface Parsers {
  readonly list: ReturnType<typeof createListQueryParser>;
  readonly watch: ReturnType<typeof createWatchQueryParser>;
}

const toParsers = (kind: Kind): Parsers => ({ list: createListQueryParser(kind), watch: createWatchQueryParser(kind) });

const metadataOnlyHeld = (resource: string) =>
  serviceUnavailable(
    `${resource} are held by their fields, because of kinds.memory: a watch gets metadata alone (Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1)`,
    undefined,
  );
