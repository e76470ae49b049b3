import { type Clock, withTimeLimit } from '../../runtime/clock.ts';
import { type ApiClient, type ApiResponse, ClusterError } from '../client/api-client.ts';
import { ACCEPT_AGGREGATED, parseAggregated } from './aggregated.ts';
import type { ClusterKind } from './cluster-kind.ts';
import { type GroupVersion, preferredKinds } from './group-version.ts';
import { documentsNamedBy, readPlain } from './plain.ts';

/** The kinds that the cluster serves. */
export interface DiscoveredKinds {
  /** Each in the version that its group prefers among those that have it. Subresources are left out. */
  readonly kinds: readonly ClusterKind[];
  /** The groups of which a version does not answer now. Of these, `kinds` has what earlier reads found. */
  readonly awayGroups: ReadonlySet<string>;
}

/** Reads which kinds the cluster serves. */
export interface DiscoveryReader {
  /**
   * Two small requests that are answered 304 while nothing changes; on a cluster without aggregated discovery (before 1.27) one more
   * for each group version. The same object as the last time, if both answers were 304. Rejects if the cluster does not answer within
   * 10 s; one API of many that does not answer is no failure.
   */
  read(signal: AbortSignal): Promise<DiscoveredKinds>;
}

interface DiscoveryParts {
  readonly client: Pick<ApiClient, 'json'>;
  readonly clock: Clock;
  /** Aborts when the cluster's connections close. */
  readonly closed: AbortSignal;
}

/** The first request for a kind waits for this. Clients give up after 10 s or more. */
const READ_LIMIT_MS = 10_000;
/** For the plain document of one API, which its own server may have to answer: so that one that hangs does not fail the read. */
const DOCUMENT_LIMIT_MS = 3_000;

type Root = '/api' | '/apis';

/** What one root has: all versions of the core group, or of all others. */
interface KnownRoot {
  /** Absent with plain documents, which have none. */
  readonly etag: string | undefined;
  readonly groupVersions: readonly GroupVersion[];
}

type KnownRoots = readonly [KnownRoot, KnownRoot];

/** Remembers the last answers, for their ETags and for the kinds of APIs that are away. */
export class HttpDiscovery implements DiscoveryReader {
  readonly #parts: DiscoveryParts;
  #known: { readonly roots: KnownRoots; readonly found: DiscoveredKinds } | undefined;

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
  }

  async read(signal: AbortSignal): Promise<DiscoveredKinds> {
    const { clock, closed } = this.#parts;
    const known = this.#known;
    const limits = { ms: READ_LIMIT_MS, signals: [signal, closed] };
    const [core, others] = await withTimeLimit(clock, limits, (limited) =>
      Promise.all([this.#root('/api', known?.roots[0], limited), this.#root('/apis', known?.roots[1], limited)]),
    );
    if (known && core === known.roots[0] && others === known.roots[1]) return known.found;
    const groupVersions = [...core.groupVersions, ...others.groupVersions];
    const away = groupVersions.filter(({ isAway }) => isAway).map(({ group }) => group);
    const found = { kinds: preferredKinds(groupVersions), awayGroups: new Set(away) };
    this.#known = { roots: [core, others], found };
    return found;
  }

  async #root(path: Root, known: KnownRoot | undefined, signal: AbortSignal): Promise<KnownRoot> {
    const response = await this.#get(path, { accept: ACCEPT_AGGREGATED, ifNoneMatch: known?.etag }, signal);
    if (response.status === 304 && known) return known;
    if (response.status !== 200) throw new ClusterError('discovery', response);
    const aggregated = parseAggregated(response.body);
    const groupVersions = aggregated ?? (await this.#readPlain(response.body, signal));
    if (path === '/api' && groupVersions.some(({ isAway }) => isAway))
      throw new Error('the core group does not answer');
    return {
      etag: aggregated ? response.headers['etag']?.toString() : undefined,
      groupVersions: groupVersions.map((one) => withKnownKinds(one, known)),
    };
  }

  #readPlain(body: unknown, signal: AbortSignal): Promise<readonly GroupVersion[]> {
    const documents = documentsNamedBy(body);
    if (!documents) throw new Error('the answer to discovery is no discovery document');
    return readPlain(documents, (path) => this.#getInTime(path, signal));
  }

  #get(
    path: string,
    headers: { readonly accept?: string; readonly ifNoneMatch?: string | undefined },
    signal: AbortSignal,
  ): Promise<ApiResponse> {
    return this.#parts.client.json({ method: 'GET', path, purpose: 'discovery', ...headers }, signal);
  }

  /** Resolves to `undefined` if the document takes too long. */
  async #getInTime(path: string, signal: AbortSignal): Promise<ApiResponse | undefined> {
    const { clock } = this.#parts;
    const beganAt = clock.monotonic();
    try {
      return await withTimeLimit(clock, { ms: DOCUMENT_LIMIT_MS, signals: [signal] }, (limited) =>
        this.#get(path, {}, limited),
      );
    } catch (error) {
      if (signal.aborted || clock.monotonic() - beganAt < DOCUMENT_LIMIT_MS) throw error;
      return undefined;
    }
  }
}

/** An API that is away keeps the kinds that were known of it, unless the document still lists kinds itself. */
function withKnownKinds(read: GroupVersion, known: KnownRoot | undefined): GroupVersion {
  if (!read.isAway || read.kinds.length > 0) return read;
  const before = known?.groupVersions.find(({ group, version }) => group === read.group && version === read.version);
  return before ? { ...read, kinds: before.kinds } : read;
}
