import type { KubernetesObject } from '../../kubernetes/object.ts';
import type { ClusterObjects } from '../../kubernetes/objects/cluster-objects.ts';
import { fetchedList } from '../../resources/fetched-list.ts';
import { createListQueryParser } from '../../resources/query/list-query.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { BoundedCalls } from '../../runtime/limits/bounded-calls.ts';
import { lastingRefusalIn, serviceUnavailable } from '../../status-error.ts';
import { type AccountNames, userRef } from '../names.ts';
import { createLoginRecordKind } from './login-record-kind.ts';
import { isRecordOf } from './record-owner.ts';

/** The login records of single users, fetched when somebody asks for them. */
export interface LoginRecordLists {
  /**
   * The body of the list of a user's records. Throws a 400 for parameters that cannot be understood; rejects with 503
   * when the cluster does not answer. Call it only with the name of a known user: no other text may get into a selector.
   */
  listOf(user: string, queryString: string): Promise<Uint8Array>;
}

const RETRY_SECONDS = 5;

/**
 * How long a user's records stay in memory. Users may list their own as often as they like, and for each call the API server scans
 * everybody's records.
 */
const KEPT_MS = 2_000;
/** The most users whose records are kept: some 10 MB, with the default number of records per user. */
const MOST_KEPT = 100;
/** Calls beyond the four wait for their turn, at most as long as one call may take. */
const CALLS = { maxInFlight: 4, maxWaiting: 1_000, timeoutMs: 10_000 };

export function createLoginRecordLists(
  names: AccountNames,
  records: Pick<ClusterObjects, 'list'>,
  clock: Clock,
): LoginRecordLists {
  const kind = createLoginRecordKind(names);
  const parse = createListQueryParser(kind);
  const calls = new BoundedCalls(CALLS, clock);
  const fetching = new Map<string, Promise<readonly KubernetesObject[]>>();
  const kept = new BoundedMap<readonly KubernetesObject[]>(MOST_KEPT);
  const keep = (user: string, found: readonly KubernetesObject[]): void => {
    kept.set(user, found);
    clock.after(KEPT_MS, () => kept.get(user) === found && kept.delete(user));
  };
  const fetch = async (user: string): Promise<readonly KubernetesObject[]> => {
    const selector = `${names.userRef}=${userRef(user)}`;
    const labelled = await calls.run(user, () => records.list(selector, { mayBeOld: true }));
    const found = labelled.filter((record) => isRecordOf(user, record));
    keep(user, found);
    return found;
  };
  /** Callers who ask for one user's records at the same time, or soon after the answer, share one call. */
  const fetchOf = async (user: string): Promise<readonly KubernetesObject[]> => {
    const known = kept.get(user) ?? fetching.get(user);
    if (known) return known;
    const call = fetch(user).finally(() => fetching.delete(user));
    fetching.set(user, call);
    return call;
  };
  return {
    async listOf(user, queryString) {
      const query = parse(queryString);
      try {
        return fetchedList(await fetchOf(user), kind, query);
      } catch (error) {
        const why = lastingRefusalIn(error) === undefined ? ': the cluster did not answer' : '';
        throw serviceUnavailable(`loginrecords are not available${why}`, RETRY_SECONDS, error);
      }
    },
  };
}
