import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Change } from '../entries/change.ts';
import { type ListState, laterState, NOTHING } from '../entries/collection-version.ts';
import type { ResourceStore } from '../entries/store.ts';
import { splitScope } from './watch-scope.ts';

/** Says that a stream of one process has sent all changes up to this version of its store. */
export interface SentUpTo {
  readonly epoch: string;
  readonly version: number;
}

/**
 * The version by which a client says what it has.
 *
 * - `cluster`: the client has the whole list of `complete`, perhaps objects as new as `seen`, and the later changes that
 *   one process sent up to `sentUpTo`. Every replica understands it.
 * - `local`: the ETag of a list, or the version of an event if resourceVersions are not numbers. Only the process of that
 *   epoch understands it.
 */
export type WatchVersion = {
  readonly text: string;
  /** The part of the list that the client had (`Within.id`). */
  readonly scope?: string | undefined;
} & (
  | {
      readonly kind: 'cluster';
      readonly seen: ListState;
      readonly complete: ListState | undefined;
      readonly sentUpTo: SentUpTo | undefined;
    }
  | { readonly kind: 'local'; readonly sentUpTo: SentUpTo }
  | { readonly kind: 'unknown' }
);

/**
 * The versions that clients see:
 * - `1204.3.1317.12`: there are three objects, whose newest change is 1204; their added annotations are made of twelve
 *   other objects, whose newest change is 1317.
 * - `1210.3.1317.12-1204.3.1317.12-5f0c2e9a7b314d88.77`: the client has the list `1204.3.1317.12` in full, may have objects
 *   as new as `1210.3.1317.12`, and got all changes up to version 77 of the process of epoch `5f0c2e9a7b314d88`.
 * - `1210.3.1317.12-1204.3.1317.12-5f0c2e9a7b314d88.77.81`: the same, on an event whose object is in its state of version 81.
 * - `1204.3.1317.12-0-5f0c2e9a7b314d88.77`: the client is in the middle of the initial events, and has no list in full.
 */
const STATE = /(\d{1,20})\.(\d{1,9})\.(\d{1,20})\.(\d{1,9})/;
const SENT = /-([0-9a-z]{1,32})\.(\d{1,15})(?:\.\d{1,15})?/;
const CLUSTER = new RegExp(`^(?:${STATE.source}-)?(?:0|${STATE.source})(?:${SENT.source})?$`);

/**
 * The ETag of the compressed list (`-gzip`) names the same version. A number holds 15 digits exactly. At a thousand changes
 * a second they last for 30,000 years.
 */
const LOCAL = /^([0-9a-z]{1,32})-(\d{1,15})(?:-gzip|-(\d{1,15}))?$/;

/** A resourceVersion that can be ordered as a number, by the rule that Kubernetes has documented since 1.35. */
const NUMBER = /^\d{1,20}$/;

export function parseVersion(text: string): WatchVersion {
  const { version, scope } = splitScope(text);
  const parsed = parseWhole(version);
  return scope === undefined ? parsed : { ...parsed, scope };
}

function parseWhole(text: string): WatchVersion {
  const cluster = CLUSTER.exec(text);
  if (cluster) return clusterVersion(text, cluster.slice(1));
  const [, epoch, version, basis] = LOCAL.exec(text) ?? [];
  if (epoch === undefined) return { kind: 'unknown', text };
  return { kind: 'local', text, sentUpTo: { epoch, version: Number(basis ?? version) } };
}

const NOTHING_SEEN: ListState = { objects: NOTHING, added: NOTHING };

function clusterVersion(text: string, parts: readonly (string | undefined)[]): WatchVersion {
  const complete = listState(parts.slice(4, 8));
  const seen = newer(listState(parts.slice(0, 4)) ?? NOTHING_SEEN, complete ?? NOTHING_SEEN);
  const [epoch, version] = parts.slice(8);
  return { kind: 'cluster', text, seen, complete, sentUpTo: epoch ? { epoch, version: Number(version) } : undefined };
}

function listState([newest, count, added = '0', addedCount]: readonly (string | undefined)[]): ListState | undefined {
  if (newest === undefined) return undefined;
  return { objects: { newest, count: Number(count) }, added: { newest: added, count: Number(addedCount) } };
}

/** `undefined` if the cluster's versions are not numbers: then only this process can order its states. */
export function stateText(state: ListState): string | undefined {
  if (!NUMBER.test(state.objects.newest) || !NUMBER.test(state.added.newest)) return undefined;
  return seenText(state);
}

/** The newer state of the objects, with the newer state of their added annotations. */
const newer = (a: ListState, b: ListState): ListState => ({
  objects: laterState(a.objects, b.objects),
  added: laterState(a.added, b.added),
});

export const seenText = ({ objects, added }: ListState): string =>
  `${objects.newest}.${objects.count}.${added.newest}.${added.count}`;

/** The version of one event, and whether a client can resume from it. */
export interface EventVersion {
  readonly text: string;
  readonly isResumable: boolean;
}

/** Stands for a list's version while the client has no list in full. Such a client cannot resume. */
const NOTHING_WHOLE = '0';

/**
 * Makes the versions of events: from the cluster's versions if these are numbers, else from those of this process. No two
 * states of one object have the same version. A client that resumes from a version, at this replica or another one,
 * misses nothing and gets nothing older. At this replica it also gets nothing twice, except objects that change while it
 * catches up.
 */
export class WatchNaming {
  readonly #store: ResourceStore;
  readonly #epoch: string;

  constructor(store: ResourceStore, epoch: string) {
    this.#store = store;
    this.#epoch = epoch;
  }

  /** The version of the list as it is now. */
  current(): string {
    return stateText(this.#store.progress.state) ?? this.local(this.#store.version);
  }

  /** The version of a client that has nothing yet. */
  nothing(): string {
    return stateText(this.#store.progress.state) === undefined ? this.local(0) : NOTHING_WHOLE;
  }

  local(version: number): string {
    return `${this.#epoch}-${version}`;
  }

  /**
   * The version of a client that has the list of `complete` in full, and all later changes up to this version of the
   * store.
   */
  midway(version: number, complete: string): string {
    return this.between({ seen: this.#store.progress.seen, version }, complete, undefined).text;
  }

  /**
   * The version of an event for this change, if the client has no list in full after it. `complete`: the version of the
   * last list that it had in full. `sent`: how new its objects may be, if some are newer than this change. `upTo`: the
   * version of the store up to which it got all changes; default: that of this change.
   */
  between(
    { seen, version }: Pick<Change, 'seen' | 'version'>,
    complete: string,
    sent: ListState | undefined,
    upTo = version,
  ): EventVersion {
    const prefix = `${this.#epoch}-`;
    if (complete.startsWith(prefix)) {
      return { text: `${prefix}${version}-${complete.slice(prefix.length)}`, isResumable: true };
    }
    const isResumable = complete !== NOTHING_WHOLE;
    const text = this.ahead(complete, sent ? newer(seen, sent) : seen);
    const place = upTo === version ? `${version}` : `${upTo}.${version}`;
    return { text: `${text}-${this.#epoch}.${place}`, isResumable };
  }

  /** The version of a client that has this list in full and may have objects that are as new as `sent`. */
  ahead(complete: string, sent: ListState): string {
    return complete.startsWith(`${this.#epoch}-`) ? complete : `${seenText(sent)}-${complete}`;
  }

  /** The version of the event after which a client has the list of `complete` in full. */
  completing({ seen }: Change, complete: string): EventVersion {
    const [objects = '', , added = ''] = complete.split('.');
    const isKnown =
      compareResourceVersions(seen.objects.newest, objects) <= 0 &&
      compareResourceVersions(seen.added.newest, added) <= 0;
    return { text: isKnown ? complete : this.ahead(complete, seen), isResumable: true };
  }
}
