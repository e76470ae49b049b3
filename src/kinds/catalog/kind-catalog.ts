import type { LastProof } from '../../data-age.ts';
import type { ClusterKind } from '../../kubernetes/discovery/cluster-kind.ts';
import type { DiscoveredKinds, DiscoveryReader } from '../../kubernetes/discovery/discovery-reader.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { derived } from '../../runtime/derived.ts';
import { serviceUnavailable } from '../../status-error.ts';
import { FollowedDiscovery } from './followed-discovery.ts';
import { type KindAnswer, type KindRules, type NamedKind, qualifiedName } from './kind-answer.ts';
import { KindIndex } from './kind-index.ts';
import { groupsOfPlurals } from './plurals.ts';

export interface KindCatalogParts {
  /** The platform name, which is part of the groups of 3.4's own kinds. */
  readonly platform: string;
  readonly discovery: DiscoveryReader;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rules: KindRules;
}

/**
 * The kinds that the cluster has now. While nobody uses it, it requests nothing. The first use waits for the cluster's discovery; from then
 * on it is followed, so that a new kind is known and a removed one is unknown within 10 s. Each method that answers rejects with a 503
 * while nothing is known. `resolve` and `find` give the same object for a kind until it changes.
 */
export interface KindCatalog {
  /**
   * What a name in a path means: `{resources}` or `{resources}.{group}`. At once for a known kind that is followed. An unknown name costs
   * a read of discovery if the last one is older than 5 s. Rejects with a 503 for an unknown name of a group that does not answer now.
   */
  resolve(name: string): KindAnswer | Promise<KindAnswer>;
  /** A kind of the cluster, whether it is listed here or not. */
  find(group: string, resource: string): ClusterKind | undefined | Promise<ClusterKind | undefined>;
  /** All kinds that can be listed now, ordered by group and plural. The same array while nothing changes. */
  kinds(): Promise<readonly NamedKind[]>;
  /** All kinds that could be listed if the configuration let them, in the same order. The same array while nothing changes. */
  denied(): Promise<readonly ClusterKind[]>;
  /**
   * Calls the listener with the kinds, as they were, that the cluster no longer has, or has in another version, scope or with another name
   * of the kind, or that can no longer be listed and watched. The returned function ends this.
   */
  onRemoved(listener: RemovalListener): () => void;
  /** When the cluster's discovery was last read. */
  readonly proof: LastProof;
  run(signal: AbortSignal): Promise<void>;
}

type RemovalListener = (removed: readonly ClusterKind[]) => void;

/** Names that may be those of a kind. For all others nothing is asked. */
const NAME = /^[a-z0-9][-a-z0-9]{0,62}(?:\.[a-z0-9][-.a-z0-9]{0,252})?$/;
/** The cluster tries an API that is away again after seconds, and we read discovery every 5 s. */
const AWAY_RETRY_SECONDS = 5;
/** A log line names at most this many kinds. */
const NAMED_KINDS = 10;

export function createKindCatalog({ platform, rules, ...parts }: KindCatalogParts): KindCatalog {
  const listeners = new Set<RemovalListener>();
  const groupOf = groupsOfPlurals(platform);
  const indexOf = derived((found: DiscoveredKinds) => new KindIndex(found, { rules, groupOf }));
  const changed = (before: DiscoveredKinds, now: DiscoveredKinds): void => {
    const removed = removedKinds(before, now);
    logChange(parts.logger, { removed, added: removedKinds(now, before) });
    if (removed.length > 0) for (const listener of listeners) listener(removed);
  };
  const followed = new FollowedDiscovery({ ...parts, changed });

  /** The answer from what is known; if that is none, from a newer read. */
  function ask<Answer>(
    read: (index: KindIndex) => Answer,
    isNone: (answer: Answer) => boolean,
  ): Answer | Promise<Answer> {
    const known = followed.current();
    if (known instanceof Promise) return known.then((found) => read(indexOf(found)));
    const answer = read(indexOf(known));
    return isNone(answer) ? followed.newer().then((found) => read(indexOf(found))) : answer;
  }

  return {
    resolve(name) {
      if (!NAME.test(name)) return { unknown: true };
      const answer = ask((index) => ({ answer: index.answer(name), away: index.awayGroupIn(name) }), isUnknown);
      return answer instanceof Promise ? answer.then(refuseIfAway) : refuseIfAway(answer);
    },
    find: (group, resource) =>
      ask(
        (index) => index.find(group, resource),
        (kind) => kind === undefined,
      ),
    kinds: async () => indexOf(await followed.current()).listed,
    denied: async () => indexOf(await followed.current()).denied,
    onRemoved(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    proof: followed.proof,
    run: (signal) => followed.run(signal),
  };
}

interface NamedAnswer {
  readonly answer: KindAnswer;
  /** The group that was named, if it does not answer now. */
  readonly away: string | undefined;
}

const isUnknown = ({ answer }: NamedAnswer): boolean => 'unknown' in answer;

function refuseIfAway(named: NamedAnswer): KindAnswer {
  if (named.away !== undefined && isUnknown(named))
    throw serviceUnavailable(`the API group "${named.away}" of the cluster does not answer`, AWAY_RETRY_SECONDS);
  return named.answer;
}

/** The kinds of `before` that `now` no longer has, or has so differently that their objects must be read again. */
function removedKinds(before: DiscoveredKinds, now: DiscoveredKinds): readonly ClusterKind[] {
  const kept = new Set(now.kinds.map(identityOf));
  return before.kinds.filter((kind) => !kept.has(identityOf(kind)));
}

const identityOf = ({ group, version, resource, kind, namespaced, verbs }: ClusterKind): string =>
  JSON.stringify([group, version, resource, kind, namespaced, verbs.includes('list') && verbs.includes('watch')]);

function logChange(
  logger: Logger,
  { removed, added }: { readonly removed: readonly ClusterKind[]; readonly added: readonly ClusterKind[] },
): void {
  if (removed.length === 0 && added.length === 0) return;
  const namesOf = (kinds: readonly ClusterKind[]): string[] => kinds.slice(0, NAMED_KINDS).map(qualifiedName);
  logger.info({ removed: namesOf(removed), added: namesOf(added) }, 'the cluster has other kinds than before');
}
