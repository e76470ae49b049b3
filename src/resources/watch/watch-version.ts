import { compareResourceVersions } from '../../kubernetes/object.ts';
import type { Change } from '../entries/change.ts';
import { type ListState, laterState, NOTHING } from '../entries/collection-version.ts';
import type { ResourceStore } from '../entries/store.ts';

/** How far a stream of one process had come: it had sent all changes up to this version of its store. */
export interface ToldUpTo {
  readonly epoch: string;
  readonly version: number;
}

/**
 * What a client says that it has. `cluster`: the whole list of `complete`, perhaps objects as new as `seen`, and the
 * later changes that one process sent up to `told`; every replica understands it. `local`: the tag of a list, or a
 * version made where the cluster's versions are no numbers; only the process of that epoch understands it.
 */
export type WatchVersion = { readonly text: string } & (
  | {
      readonly kind: 'cluster';
      readonly seen: ListState;
      readonly complete: ListState | undefined;
      readonly told: ToldUpTo | undefined;
    }
  | { readonly kind: 'local'; readonly told: ToldUpTo }
  | { readonly kind: 'unknown' }
);

/**
 * `1204.3.1317.12`: the newest change of an object is 1204 and there are three; what is added to them is made of
 * twelve others, whose newest change is 1317.
 * `1210.3.1317.12-1204.3.1317.12-5f0c2e9a7b314d88.77`: in the middle of what came after that.
 * `1210.3.1317.12-1204.3.1317.12-5f0c2e9a7b314d88.77.81`: the same, told with a state that an object got at 81.
 * `1204.3.1317.12-0-5f0c2e9a7b314d88.77`: of a first state.
 */
const STATE = /(\d{1,20})\.(\d{1,9})\.(\d{1,20})\.(\d{1,9})/;
const TOLD = /-([0-9a-z]{1,32})\.(\d{1,15})(?:\.\d{1,15})?/;
const CLUSTER = new RegExp(`^(?:${STATE.source}-)?(?:0|${STATE.source})(?:${TOLD.source})?$`);

/**
 * The ETag of the compressed list names the same version. A number holds 15 digits exactly; a thousand changes a second
 * need 30,000 years for them.
 */
const LOCAL = /^([0-9a-z]{1,32})-(\d{1,15})(?:-gzip|-(\d{1,15}))?$/;

/** A resourceVersion that can be ordered as a number, by the rule that Kubernetes has documented since 1.35. */
const NUMBER = /^\d{1,20}$/;

export function parseVersion(text: string): WatchVersion {
  const cluster = CLUSTER.exec(text);
  if (cluster) return clusterVersion(text, cluster.slice(1));
  const [, epoch, version, basis] = LOCAL.exec(text) ?? [];
  if (epoch === undefined) return { kind: 'unknown', text };
  return { kind: 'local', text, told: { epoch, version: Number(basis ?? version) } };
}

const NOTHING_SEEN: ListState = { objects: NOTHING, added: NOTHING };

function clusterVersion(text: string, parts: readonly (string | undefined)[]): WatchVersion {
  const complete = listState(parts.slice(4, 8));
  const seen = newer(listState(parts.slice(0, 4)) ?? NOTHING_SEEN, complete ?? NOTHING_SEEN);
  const [epoch, version] = parts.slice(8);
  return { kind: 'cluster', text, seen, complete, told: epoch ? { epoch, version: Number(version) } : undefined };
}

function listState([newest, count, added = '0', addedCount]: readonly (string | undefined)[]): ListState | undefined {
  if (newest === undefined) return undefined;
  return { objects: { newest, count: Number(count) }, added: { newest: added, count: Number(addedCount) } };
}

/** `undefined` where the cluster's versions are no numbers: then only this process can order its states. */
export function stateText(state: ListState): string | undefined {
  if (!NUMBER.test(state.objects.newest) || !NUMBER.test(state.added.newest)) return undefined;
  return seenText(state);
}

/** The newer one of each half: of the objects, and of what is added to them. */
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

/** Stands in the place of a list's version while the client has no list in full. Such a client cannot resume. */
const NOTHING_WHOLE = '0';

/**
 * Makes the versions of events: from the cluster's versions where these are numbers, else from those of this process.
 * No two states of one object have the same version. A client that resumes from a version, at this replica or another
 * one, misses nothing and is sent nothing older. At this replica it is sent nothing twice either, but for what changed while it was told what it missed.
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
   * The version of an object that changed like this. The client has the list of `complete` in full, gets more events,
   * and may have objects that are as new as `told`. `upTo`: all changes up to this version of the store were sent, if
   * that is not the version of this one.
   */
  between(
    { seen, version }: Pick<Change, 'seen' | 'version'>,
    complete: string,
    told: ListState | undefined,
    upTo = version,
  ): EventVersion {
    const prefix = `${this.#epoch}-`;
    if (complete.startsWith(prefix)) {
      return { text: `${prefix}${version}-${complete.slice(prefix.length)}`, isResumable: true };
    }
    const isResumable = complete !== NOTHING_WHOLE;
    const text = this.ahead(complete, told ? newer(seen, told) : seen);
    const place = upTo === version ? `${version}` : `${upTo}.${version}`;
    return { text: `${text}-${this.#epoch}.${place}`, isResumable };
  }

  /** The version of a client that has this list in full and may have objects that are as new as `told`. */
  ahead(complete: string, told: ListState): string {
    return complete.startsWith(`${this.#epoch}-`) ? complete : `${seenText(told)}-${complete}`;
  }

  /** The version of the last object that a client lacked for the list of `complete`. */
  completing({ seen }: Change, complete: string): EventVersion {
    const [objects = '', , added = ''] = complete.split('.');
    const isKnown =
      compareResourceVersions(seen.objects.newest, objects) <= 0 &&
      compareResourceVersions(seen.added.newest, added) <= 0;
    return { text: isKnown ? complete : this.ahead(complete, seen), isResumable: true };
  }
}
