import type { Authorizer } from '../authorization/authorizer.ts';
import type { Config } from '../config/config.ts';
import { logFamily } from '../http/logs/log-routes.ts';
import { LogReader } from '../logs/log-reader.ts';
import type { LokiLabels } from '../logs/loki/loki-query.ts';
import { LokiStore } from '../logs/loki/loki-store.ts';
import { LogMetrics } from '../logs/metrics.ts';
import type { KnownNamespace } from '../logs/rights/readable-namespaces.ts';
import { DetectingStore, type StoreKind } from '../logs/search/detecting-store.ts';
import { DIALECTS } from '../logs/search/dialects.ts';
import { SearchStore } from '../logs/search/search-store.ts';
import type { LogStore } from '../logs/store/log-store.ts';
import { StoreClient } from '../logs/store/store-client.ts';
import { openStoreFiles, type StoreFilesOptions } from '../logs/store/store-files.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Family, NO_UPKEEP, type Shared } from './family.ts';

export interface LogsOptions extends StoreFilesOptions {
  readonly host: string;
  /** Absent when the store should be asked for its version. */
  readonly version: StoreKind | undefined;
  readonly indexPrefix: string;
  readonly lokiLabels: LokiLabels;
  readonly lokiTenant?: string | undefined;
  readonly insecureSkipTLSVerify: boolean;
  readonly exportLogsLimit: number;
}

/** `undefined` when no log store is configured. */
export function toLogsOptions({ logging }: Pick<Config, 'logging'>): LogsOptions | undefined {
  const { host, version, lokiNamespaceLabel, lokiPodLabel, lokiContainerLabel, ...options } = logging;
  if (host === undefined) return undefined;
  const lokiLabels = { namespace: lokiNamespaceLabel, pod: lokiPodLabel, container: lokiContainerLabel };
  return { ...options, lokiLabels, host, version: version === '' ? undefined : version };
}

interface LogsParts extends Pick<Shared, 'clock' | 'logger' | 'registry'> {
  readonly authorizer: Authorizer;
  namespaces(): readonly KnownNamespace[];
}

/** Limit of one search, or of one piece of an export. The store gets it, too (docs/contract/logging.md, section 6). */
const TIME_LIMIT_MS = 30_000;

/** Log queries and their store. Asks the store nothing yet: it may be unavailable at the start. */
export async function createLogs(options: LogsOptions | undefined, parts: LogsParts): Promise<Family> {
  if (!options) return { routes: logFamily(undefined) };
  const { host, version, lokiTenant, insecureSkipTLSVerify, exportLogsLimit } = options;
  const { authorizer, namespaces, clock, logger, registry } = parts;
  const metrics = new LogMetrics(registry);
  const files = openStoreFiles(options, { clock, logger });
  const client = await StoreClient.open(
    { url: host, trustsAnybody: insecureSkipTLSVerify, headers: lokiTenant ? { 'x-scope-orgid': lokiTenant } : {} },
    { clock, files, observe: (purpose, status, seconds) => metrics.requested(purpose, status, seconds) },
  );
  const create = (kind: StoreKind): LogStore => createStore(kind, options, { client, clock });
  // Several searches may detect the store at once, and others detect it again later. All get the same object, which limits the requests.
  const stores = new Map<StoreKind, LogStore>();
  const found = (kind: StoreKind): LogStore => {
    const known = stores.get(kind);
    if (!known) logger.info({ store: kind }, 'the log store was found');
    const store = known ?? create(kind);
    stores.set(kind, store);
    return store;
  };
  const store = version ? create(version) : new DetectingStore(client, found);
  const reader = new LogReader(
    { timeLimitMs: TIME_LIMIT_MS, exportLimit: exportLogsLimit },
    { store, clock, metrics, authorizer, namespaces },
  );
  return {
    routes: logFamily({
      reader,
      onCut: () => metrics.cut(),
      showInFlight: (count) => metrics.showInFlight(count),
    }),
    upkeep: { ...NO_UPKEEP, parts: [{ name: 'files of the log store', run: files.run }] },
    close: () => client.close(),
  };
}

function createStore(
  kind: StoreKind,
  { indexPrefix, lokiLabels }: LogsOptions,
  { client, clock }: { readonly client: StoreClient; readonly clock: Clock },
): LogStore {
  if (kind === 'loki') return new LokiStore({ client, clock, labels: lokiLabels });
  return new SearchStore({ indexPrefix, dialect: DIALECTS[kind], timeLimitMs: TIME_LIMIT_MS }, { client, clock });
}
