import { withTimeLimit } from '../../runtime/clock.ts';
import type { ClusterKind } from './cluster-kind.ts';
import { preferredKinds } from './group-version.ts';
import { type KnownRoot, type RootParts, readRoot } from './read-root.ts';

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
   * 10 s, and while it has just started and does not list all its kinds yet. One API of many that does not answer is no failure.
   */
  read(signal: AbortSignal): Promise<DiscoveredKinds>;
}

interface DiscoveryParts extends RootParts {
  /** Aborts when the cluster's connections close. */
  readonly closed: AbortSignal;
}

/** The first request for a kind waits for this. Clients give up after 10 s or more. */
const READ_LIMIT_MS = 10_000;
/** A cluster that is not ready for longer than this is believed all the same. An API server with many definitions takes half a minute. */
const LONGEST_DOUBT_MS = 60_000;

interface KnownDiscovery {
  readonly core: KnownRoot;
  readonly others: KnownRoot;
  readonly found: DiscoveredKinds;
}

/** Remembers the last answers, for their ETags and for the kinds of APIs that are away. */
export class HttpDiscovery implements DiscoveryReader {
  readonly #parts: DiscoveryParts;
  #known: KnownDiscovery | undefined;
  #doubtedSince: number | undefined;

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
  }

  async read(signal: AbortSignal): Promise<DiscoveredKinds> {
    const { clock, closed } = this.#parts;
    const limits = { ms: READ_LIMIT_MS, signals: [signal, closed] };
    this.#known = await withTimeLimit(clock, limits, (limited) => this.#readInTime(limited));
    this.#doubtedSince = undefined;
    return this.#known.found;
  }

  /**
   * For some time after its start, an API server lists its own kinds only, before it has read the definitions of the others. So if a kind
   * has gone, the server must be ready, and is then asked again.
   */
  async #readInTime(signal: AbortSignal): Promise<KnownDiscovery> {
    const read = await this.#readRoots(this.#known, signal);
    if (!this.#known || !lacksAny(read.found, this.#known.found)) return read;
    const now = this.#parts.clock.monotonic();
    this.#doubtedSince ??= now;
    if (now - this.#doubtedSince >= LONGEST_DOUBT_MS) return read;
    if (!(await this.#isReady(signal))) throw new Error('the API server is not ready, and does not list all its kinds');
    return this.#readRoots(this.#known, signal);
  }

  async #readRoots(known: KnownDiscovery | undefined, signal: AbortSignal): Promise<KnownDiscovery> {
    const [core, others] = await Promise.all([
      readRoot('/api', known?.core, this.#parts, signal),
      readRoot('/apis', known?.others, this.#parts, signal),
    ]);
    if (known && core === known.core && others === known.others) return known;
    const groupVersions = [...core.groupVersions, ...others.groupVersions];
    const away = groupVersions.filter(({ isAway }) => isAway).map(({ group }) => group);
    return { core, others, found: { kinds: preferredKinds(groupVersions), awayGroups: new Set(away) } };
  }

  /** Only what the API server itself says when it is not ready counts: our account may lack the right to ask. */
  async #isReady(signal: AbortSignal): Promise<boolean> {
    const request = { method: 'GET', path: '/readyz', purpose: 'discovery' } as const;
    const { status } = await this.#parts.client.json(request, signal);
    return status < 500;
  }
}

/** Whether a kind that was known before has gone. */
function lacksAny(found: DiscoveredKinds, before: DiscoveredKinds): boolean {
  const names = new Set(found.kinds.map(nameOf));
  return before.kinds.some((kind) => !names.has(nameOf(kind)));
}

const nameOf = ({ group, resource }: ClusterKind): string => `${resource}.${group}`;
