import type { Authorizer } from '../../authorization/authorizer.ts';
import type { Config } from '../../config/config.ts';
import type { DocumentKind } from '../../documents/document-kind.ts';
import { DocumentReader, type DocumentReaderOptions } from '../../documents/document-reader.ts';
import { auditKind } from '../../documents/kinds/audit-kind.ts';
import { EVENTS } from '../../documents/kinds/event-kind.ts';
import { LOGS } from '../../documents/kinds/log-kind.ts';
import { LOKI_EVENTS } from '../../documents/loki/loki-events.ts';
import { lokiLogs } from '../../documents/loki/loki-logs.ts';
import type { LokiLabels } from '../../documents/loki/loki-query.ts';
import { LokiStore } from '../../documents/loki/loki-store.ts';
import { DocumentMetrics } from '../../documents/metrics.ts';
import type { KnownNamespace } from '../../documents/rights/readable-namespaces.ts';
import { DetectingStore, type StoreKind } from '../../documents/search/detecting-store.ts';
import { DIALECTS } from '../../documents/search/dialects.ts';
import { SearchStore } from '../../documents/search/search-store.ts';
import type { DocumentStore } from '../../documents/store/document-store.ts';
import type { LogStoreClient, StorePurpose } from '../../documents/store/store-requests.ts';
import { documentFamily } from '../../http/documents/document-routes.ts';
import type { ServedDocuments } from '../../http/documents/export-answer.ts';
import { reported } from '../../http/request-origin.ts';
import type { Clock } from '../../runtime/clock.ts';
import { StoreClient } from '../../stores/store-client.ts';
import { StoreError } from '../../stores/store-error.ts';
import { openStoreFiles, type StoreFilesOptions } from '../../stores/store-files.ts';
import { type Family, NO_UPKEEP, type Shared } from '../family.ts';
import type { Part } from '../run-group.ts';
import { createLiveEvents, type LiveEventsParts } from './live-events.ts';

/** A store of one kind of documents. */
interface StoreOptions extends StoreFilesOptions {
  readonly host: string;
  /** Absent when the store should be asked for its version. */
  readonly version: StoreKind | undefined;
  readonly indexPrefix: string;
  readonly insecureSkipTLSVerify: boolean;
  readonly lokiLabels?: LokiLabels;
  readonly lokiTenant?: string | undefined;
}

/** The stores that are configured, and what else their queries depend on. */
export interface DocumentsOptions {
  readonly logs: StoreOptions | undefined;
  readonly events: StoreOptions | undefined;
  readonly audit: StoreOptions | undefined;
  /** Whether events are read from the cluster where no store has them. */
  readonly areEventsLive: boolean;
  readonly auditKind: DocumentKind;
  readonly exportLogsLimit: number;
}

/** Whether events are read from the cluster where no store has them. Those in memory come with the kinds. */
export const areEventsLive = ({ events, kinds }: Pick<Config, 'events' | 'kinds'>): boolean =>
  kinds.enabled && (events.live ?? kinds.events);

/** The options of the searches in this configuration. */
export function toDocumentsOptions({
  platform,
  logging,
  events,
  auditing,
  kinds,
}: Pick<Config, 'platform' | 'logging' | 'events' | 'auditing' | 'kinds'>): DocumentsOptions {
  const { lokiNamespaceLabel, lokiPodLabel, lokiContainerLabel, exportLogsLimit, ...logs } = logging;
  const lokiLabels = { namespace: lokiNamespaceLabel, pod: lokiPodLabel, container: lokiContainerLabel };
  return {
    logs: toStoreOptions({ ...logs, lokiLabels }),
    events: toStoreOptions(events),
    audit: toStoreOptions(auditing),
    areEventsLive: areEventsLive({ events, kinds }),
    auditKind: auditKind(platform, { isAsEvents: auditing.rightOfEvents }),
    exportLogsLimit,
  };
}

/** `undefined` when no store is configured. */
const toStoreOptions = ({
  host,
  version,
  ...options
}: Omit<StoreOptions, 'host' | 'version'> & {
  readonly host?: string | undefined;
  readonly version: StoreKind | '';
}): StoreOptions | undefined =>
  host === undefined ? undefined : { ...options, host, version: version === '' ? undefined : version };

interface DocumentsParts
  extends Pick<Shared, 'clock' | 'logger' | 'registry' | 'events'>,
    Pick<LiveEventsParts, 'kinds'> {
  readonly authorizer: Authorizer;
  namespaces(): readonly KnownNamespace[];
}

/** Limit of one search, or of one piece of an export. The store gets it, too (docs/contract/logging.md, section 6). */
const TIME_LIMIT_MS = 30_000;

/** Searches of logs, events and audit records, and their stores. Asks the stores nothing yet: they may be unavailable at the start. */
export async function createDocuments(options: DocumentsOptions, parts: DocumentsParts): Promise<Family> {
  const { authorizer, namespaces, clock, registry, events, kinds } = parts;
  const live = options.areEventsLive && kinds ? createLiveEvents({ kinds, clock }) : undefined;
  if (!(options.logs ?? options.events ?? options.audit ?? live))
    return { routes: documentFamily({ onAuditRead: () => undefined }) };
  const metrics = new DocumentMetrics(registry);
  const opened: OpenedStore[] = [];
  const readerOf = (kind: DocumentKind, store: DocumentStore): DocumentReader => {
    const limits: DocumentReaderOptions = { kind, timeLimitMs: TIME_LIMIT_MS, exportLimit: options.exportLogsLimit };
    return new DocumentReader(limits, { store, clock, metrics, authorizer, namespaces });
  };
  const serve = async (kind: DocumentKind, store: StoreOptions | undefined): Promise<ServedDocuments | undefined> => {
    if (!store) return undefined;
    const one = await openStore(kind, store, { ...parts, metrics });
    opened.push(one);
    return { reader: readerOf(kind, one.store), onCut: () => metrics.cut() };
  };
  // The audit trail repeats no text that a caller typed, and a name of nothing may be one.
  const existingOf = (asked: readonly string[]) => {
    const existing = new Set(asked.length === 0 ? [] : namespaces().map(({ name }) => name));
    const named = asked.filter((name) => existing.has(name));
    return {
      namespaces: named,
      ...(named.length < asked.length && { unknownNamespaces: asked.length - named.length }),
    };
  };
  const shown: ServedDocuments | undefined = live && {
    reader: readerOf(EVENTS, live),
    onCut: () => undefined,
    warning: 'these are the events that the cluster still has; no store of events is configured',
  };
  return {
    routes: documentFamily({
      logs: await serve(LOGS, options.logs),
      events: (await serve(EVENTS, options.events)) ?? shown,
      audit: await serve(options.auditKind, options.audit),
      showInFlight: (count) => metrics.showInFlight(count),
      onAuditRead: (exchange, { operation, scope: { namespaces: asked } }) => {
        const { signedIn, source, requestId, ownRequestId } = exchange;
        const line = { user: signedIn.identity.name, operation, ...existingOf(asked), source, requestId, ownRequestId };
        events.report('audit_read', line, reported(exchange));
      },
    }),
    upkeep: { ...NO_UPKEEP, parts: opened.map(({ part }) => part) },
    close: async () => {
      for (const { close } of opened) await close();
    },
  };
}

interface OpenedStore {
  readonly store: DocumentStore;
  /** Reads the files of the store again when they change. */
  readonly part: Part;
  close(): Promise<void>;
}

type StoreParts = Pick<Shared, 'clock' | 'logger'> & { readonly metrics: DocumentMetrics };

async function openStore(
  kind: DocumentKind,
  options: StoreOptions,
  { clock, logger, metrics }: StoreParts,
): Promise<OpenedStore> {
  const { host, version, lokiTenant, insecureSkipTLSVerify } = options;
  const name = `the store of ${kind.name}`;
  const files = openStoreFiles(options, { clock, logger, name });
  const client = await StoreClient.open<StorePurpose>(
    {
      name: 'the log store',
      url: host,
      trustsAnybody: insecureSkipTLSVerify,
      headers: lokiTenant ? { 'x-scope-orgid': lokiTenant } : {},
    },
    { clock, files, observe: (purpose, status, seconds) => metrics.requested(purpose, status, seconds) },
  );
  // Several searches may detect the store at once, and others detect it again later. All get the same object, which limits the requests.
  const stores = new Map<StoreKind, DocumentStore>();
  const found = (version: StoreKind): DocumentStore => {
    const known = stores.get(version);
    if (!known) logger.info({ store: version, of: kind.name }, 'the store was found');
    const store = known ?? createStore(kind, version, options, { client, clock });
    stores.set(version, store);
    return store;
  };
  return {
    store: version ? createStore(kind, version, options, { client, clock }) : new DetectingStore(client, found),
    part: { name: `files of ${name}`, run: files.run },
    close: () => client.close(),
  };
}

function createStore(
  kind: DocumentKind,
  name: StoreKind,
  { indexPrefix, lokiLabels }: StoreOptions,
  parts: { readonly client: LogStoreClient; readonly clock: Clock },
): DocumentStore {
  if (name !== 'loki')
    return new SearchStore({ kind, indexPrefix, dialect: DIALECTS[name], timeLimitMs: TIME_LIMIT_MS }, parts);
  if (lokiLabels) return new LokiStore({ ...parts, kind: lokiLogs(lokiLabels) });
  if (kind === EVENTS) return new LokiStore({ ...parts, kind: LOKI_EVENTS });
  throw new StoreError('unsupported', `the store of ${kind.name} is Loki, which is supported for logs and events only`);
}
