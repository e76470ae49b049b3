import { type Collection, indexOfKey } from './collection.ts';
import type { Entry } from './entry.ts';
import type { Form } from './form.ts';
import type { ListOptions } from './list-options.ts';
import type { ObjectStore } from './object-store.ts';
import { badRequest, expired, tooLargeResourceVersion } from './status.ts';
import type { WatchCache } from './watch-cache.ts';

/** Texts of `k8s.io/apiserver/pkg/storage/etcd3/errors.go`. */
const LIST_TOO_OLD = 'The resourceVersion for the provided list is too old.';
const CONTINUE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
  'deleted between the time the first chunk was returned and now may show up in the list.';

/** What one list request reads: the entries of one version, from one key on. */
interface Reading {
  readonly revision: number;
  readonly entries: readonly Entry[];
  readonly from: number;
  readonly limit: number;
}

interface ListRequest {
  readonly collection: Collection;
  readonly watchCache: WatchCache;
  /** Empty: all namespaces. */
  readonly namespace: string;
  readonly options: ListOptions;
  readonly form: Form;
}

/** The body of a list, or of one page of it. All pages of a list have the same version. */
export function listText(store: ObjectStore, request: ListRequest): string {
  const { namespace, options, form } = request;
  const reading = read(store, request);
  const { entries, limit } = reading;
  const prefix = namespace === '' ? '' : `${namespace}/`;
  const items: string[] = [];
  let index = Math.max(reading.from, indexOfKey(entries, prefix));
  for (; index < entries.length && (limit === 0 || items.length < limit); index++) {
    const entry = entries[index]!;
    if (!entry.key.startsWith(prefix)) break;
    if (options.selects(entry.object)) items.push(form.item(entry));
  }
  const end = prefix === '' ? entries.length : indexOfKey(entries, `${namespace}0`); // '0' comes right after '/'
  const metadata: Record<string, unknown> = { resourceVersion: String(reading.revision) };
  if (index < end) {
    metadata['continue'] = continueToken({ rv: reading.revision, start: `${entries[index - 1]!.key}\0` });
    if (!options.selective) metadata['remainingItemCount'] = end - index;
  }
  return `${form.list(metadata, items)}\n`;
}

/**
 * Chooses the version to read, by the rules of https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions.
 * Without a version, and for NotOlderThan, it is the newest. A version with only a `limit` is read exactly. At 0 it is the version of
 * the watch cache, and the limit is ignored.
 */
function read(store: ObjectStore, { collection, watchCache, options }: ListRequest): Reading {
  if (options.continueToken !== '') return resume(store, collection, options);
  const { revision: wanted = 0, match } = options;
  const current = store.revision;
  if (wanted > current) throw tooLargeResourceVersion(String(wanted), String(current));
  if (options.revision === 0) {
    const revision = watchCache.revision();
    return { revision, entries: collection.at(revision), from: 0, limit: 0 };
  }
  const limit = Math.max(0, options.limit);
  const exact = match === 'Exact' || (match === '' && wanted > 0 && limit > 0);
  if (exact) {
    if (wanted < store.compactedRevision) throw expired(LIST_TOO_OLD);
    return { revision: wanted, entries: collection.at(wanted), from: 0, limit };
  }
  const entries = limit > 0 ? collection.at(current) : collection.ordered();
  return { revision: current, entries, from: 0, limit };
}

function resume(store: ObjectStore, collection: Collection, options: ListOptions): Reading {
  if (options.revision !== undefined && options.revision > 0)
    throw badRequest('specifying resource version is not allowed when using continue');
  const { rv, start } = parseContinueToken(options.continueToken);
  const revision = rv === -1 ? store.revision : rv;
  if (revision < store.compactedRevision || revision > store.revision)
    throw expired(CONTINUE_TOO_OLD, continueToken({ rv: -1, start }));
  const entries = collection.at(revision);
  return { revision, entries, from: indexOfKey(entries, start), limit: Math.max(0, options.limit) };
}

/**
 * With `rv` -1 the list goes on at the newest version, without consistency. `start` is the first key that may come
 * next.
 */
interface Position {
  readonly rv: number;
  readonly start: string;
}

const continueToken = ({ rv, start }: Position): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url');

function parseContinueToken(token: string): Position {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(token, 'base64url').toString()) as Record<string, unknown>;
    if (v === 'meta.k8s.io/v1' && Number.isSafeInteger(rv) && typeof start === 'string')
      return { rv: rv as number, start };
  } catch {
    // Not JSON: refused below, like any other token that this server did not make.
  }
  throw badRequest('continue key is not valid: illegal base64 data or unknown version');
}
