import { onAbort } from '../../runtime/abort.ts';
import { AnswerTooLong } from '../../runtime/send-request.ts';
import type { TimeSlices } from '../../runtime/time-slices.ts';
import type { ApiClient, ApiResponse } from '../client/api-client.ts';
import { versionOf } from '../object.ts';
import { toStatus } from '../status.ts';
import { EventDecoder } from './event-decoder.ts';
import { type Failure, failureOfResponse } from './failure.ts';
import type { ListerWatcher, ListPage, ListRequest, WatchRequest, WatchSink } from './lister-watcher.ts';

/** One collection of the API. */
export interface WatchedResource {
  /** E.g. `/api/v1/nodes`. */
  readonly path: string;
  /** The `resource` label of the metrics: `nodes`. */
  readonly name: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Gatehouse works without this collection. While the cluster refuses us the right to it, its age is not exposed. */
  readonly isOptional?: boolean;
  /** False: no metrics of the reflector. For a kind that is mirrored only at times: its series would stay. Default: true. */
  readonly isMeasured?: boolean;
  /** The version from which the mirror should know all changes. Absent: it knows those since its first list. */
  readonly since?: string | undefined;
  /** Wraps the lister-watcher of the collection, as `SharedWatch` does. */
  readonly wrap?: (source: ListerWatcher) => ListerWatcher;
}

/** Names and versions only ("Receiving resources as Tables / metadata" of the API concepts). */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

export interface HttpListerWatcherParts {
  readonly client: ApiClient;
  readonly slices: TimeSlices;
}

export function createHttpListerWatcher(parts: HttpListerWatcherParts, resource: WatchedResource): ListerWatcher {
  const pathOf = (query: Record<string, string>): string => {
    const { path, fieldSelector, labelSelector } = resource;
    const selectors = { ...(fieldSelector ? { fieldSelector } : {}), ...(labelSelector ? { labelSelector } : {}) };
    return `${path}?${new URLSearchParams({ ...selectors, ...query })}`;
  };
  return {
    list: (request, progress, signal) =>
      list(parts.client, { path: pathOf(listQuery(request)), request, progress }, signal),
    watch: (request, sink, signal) => watch(parts, { path: pathOf(watchQuery(request)), sink }, signal),
  };
}

/**
 * A resourceVersion with `limit` and no `resourceVersionMatch` would mean Exact, so the match is always given (API
 * concepts, "Semantics").
 */
function listQuery({ version, limit, continueToken }: ListRequest): Record<string, string> {
  const page = { limit: String(limit) };
  if (continueToken) return { ...page, continue: continueToken };
  if (version === '') return page;
  return 'exact' in version
    ? { ...page, resourceVersion: version.exact, resourceVersionMatch: 'Exact' }
    : { ...page, resourceVersion: version.notOlderThan, resourceVersionMatch: 'NotOlderThan' };
}

function watchQuery({ resourceVersion, timeoutSeconds, initialEvents }: WatchRequest): Record<string, string> {
  return {
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(timeoutSeconds),
    resourceVersion,
    ...(initialEvents ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' } : {}),
  };
}

async function list(
  client: ApiClient,
  { path, request, progress }: { path: string; request: ListRequest; progress: () => void },
  signal: AbortSignal,
): Promise<ListPage | Failure> {
  const accept = request.metadataOnly ? { accept: METADATA_ONLY } : {};
  let started = false;
  const note = (): void => {
    started = true;
    progress();
  };
  try {
    const response = await client.json({ method: 'GET', path, purpose: 'list', ...accept }, signal, note);
    return response.status === 200 ? toPage(response) : failureOf(response);
  } catch (error) {
    return broken(error, started, signal);
  }
}

function toPage({ body, bytes }: ApiResponse): ListPage | Failure {
  const { items, metadata } = (body ?? {}) as { items?: unknown; metadata?: { continue?: unknown } };
  const resourceVersion = versionOf(body);
  const list = items === null ? [] : items; // Go writes an empty list as null
  if (!Array.isArray(list) || resourceVersion === '') return { kind: 'unreadable', detail: 'the answer is no list' };
  const token = metadata?.continue;
  const continueToken = typeof token === 'string' ? token : '';
  return { kind: 'page', resourceVersion, continueToken, items: list, bytes };
}

async function watch(
  { client, slices }: HttpListerWatcherParts,
  { path, sink }: { path: string; sink: WatchSink },
  signal: AbortSignal,
): Promise<Failure> {
  const stream = new EventDecoder(sink, slices);
  const stopListening = onAbort(signal, () => stream.stop());
  try {
    await client.stream({ method: 'GET', path, purpose: 'watch' }, stream, stream.signal);
    await stream.read();
    return stream.ended();
  } catch (error) {
    await stream.read();
    return stream.failure ?? broken(error, stream.started, signal);
  } finally {
    stopListening();
  }
}

function failureOf({ status, headers, body }: ApiResponse): Failure {
  const retryAfter = headers['retry-after'];
  return failureOfResponse(toStatus(body, status), typeof retryAfter === 'string' ? retryAfter : undefined);
}

function broken(error: unknown, started: boolean, signal: AbortSignal): Failure {
  if (signal.aborted) return { kind: 'aborted' };
  if (error instanceof AnswerTooLong) {
    const { message: detail, status } = error;
    return status === 200 ? { kind: 'unreadable', detail, isTooLong: true } : { kind: 'unreadable', detail };
  }
  const { code, message } = error as { code?: unknown; message?: string };
  return { kind: started ? 'reset' : 'refused', detail: [code, message].filter(Boolean).join(' ') };
}
