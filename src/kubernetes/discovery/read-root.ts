import { type Clock, withTimeLimit } from '../../runtime/clock.ts';
import { type ApiClient, type ApiResponse, ClusterError } from '../client/api-client.ts';
import { ACCEPT_AGGREGATED, parseAggregated } from './aggregated.ts';
import type { GroupVersion } from './group-version.ts';
import { documentsNamedBy, readPlain } from './plain.ts';

/** `/api` has all versions of the core group, `/apis` those of all other groups. */
type RootPath = '/api' | '/apis';

/** What one root has. */
export interface KnownRoot {
  /** Absent with plain documents: a group version may have new kinds while the list of groups stays the same. */
  readonly etag: string | undefined;
  readonly groupVersions: readonly GroupVersion[];
}

export interface RootParts {
  readonly client: Pick<ApiClient, 'json'>;
  readonly clock: Clock;
}

/** For the plain document of one API, which its own server may have to answer: so that one that hangs does not fail the read. */
const DOCUMENT_LIMIT_MS = 3_000;

/**
 * Returns `known` itself if the cluster answers 304. Of an API that is away, the result has what was known. Rejects if the root or the
 * core group is not answered.
 */
export async function readRoot(
  path: RootPath,
  known: KnownRoot | undefined,
  parts: RootParts,
  signal: AbortSignal,
): Promise<KnownRoot> {
  const headers = { accept: ACCEPT_AGGREGATED, ifNoneMatch: known?.etag };
  const response = await parts.client.json({ method: 'GET', path, purpose: 'discovery', ...headers }, signal);
  if (response.status === 304 && known) return known;
  if (response.status !== 200) throw new ClusterError('discovery', response);
  const aggregated = parseAggregated(response.body);
  const groupVersions = aggregated ?? (await readDocuments(response.body, parts, signal));
  if (path === '/api' && groupVersions.some(({ isAway }) => isAway)) throw new Error('the core group does not answer');
  return {
    etag: aggregated ? response.headers['etag']?.toString() : undefined,
    groupVersions: groupVersions.map((one) => withKnownKinds(one, known)),
  };
}

function readDocuments(body: unknown, parts: RootParts, signal: AbortSignal): Promise<readonly GroupVersion[]> {
  const documents = documentsNamedBy(body);
  if (!documents) throw new Error('the answer to discovery is no discovery document');
  return readPlain(documents, (path) => getInTime(path, parts, signal));
}

/** Resolves to `undefined` if the document takes too long. */
async function getInTime(
  path: string,
  { client, clock }: RootParts,
  signal: AbortSignal,
): Promise<ApiResponse | undefined> {
  const beganAt = clock.monotonic();
  try {
    return await withTimeLimit(clock, { ms: DOCUMENT_LIMIT_MS, signals: [signal] }, (limited) =>
      client.json({ method: 'GET', path, purpose: 'discovery' }, limited),
    );
  } catch (error) {
    if (signal.aborted || clock.monotonic() - beganAt < DOCUMENT_LIMIT_MS) throw error;
    return undefined;
  }
}

/** An API that is away keeps the kinds that were known of it, unless the document still lists kinds itself. */
function withKnownKinds(read: GroupVersion, known: KnownRoot | undefined): GroupVersion {
  if (!read.isAway || read.kinds.length > 0) return read;
  const before = known?.groupVersions.find(({ group, version }) => group === read.group && version === read.version);
  return before ? { ...read, kinds: before.kinds } : read;
}
