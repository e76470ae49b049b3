import { type ListState, laterState, NOTHING } from '../entries/collection-version.ts';

/** How far a stream of one process had come with what followed: all changes up to this version of its store. */
export interface ToldUpTo {
  readonly epoch: string;
  readonly version: number;
}

/**
 * What a client says that it has: the whole list of `complete`, perhaps objects that are as new as `seen`, and of what followed all
 * that one process told up to `told`. Every replica understands it. `local`: the tag of a list, or a version where the cluster's
 * are no numbers; only the process of that epoch does.
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
 * `1210.3.1317.12-1204.3.1317.12-5f0c2e9a7b314d88.77`: in the middle of what came after that. `1204.3.1317.12-0`: of a first state.
 */
const STATE = /(\d{1,20})\.(\d{1,9})\.(\d{1,20})\.(\d{1,9})/;
const TOLD = /-([0-9a-z]{1,32})\.(\d{1,15})/;
const CLUSTER = new RegExp(`^(?:${STATE.source}-)?(?:0|${STATE.source}(?:${TOLD.source})?)$`);

/**
 * The ETag of the compressed list names the same version. 15 digits are exact as a number; a thousand changes a second fill them in
 * 30,000 years.
 */
const LOCAL = /^([0-9a-z]{1,32})-(\d{1,15})(?:-gzip|-(\d{1,15}))?$/;

/** A resourceVersion that is ordered as a number, by the rule that Kubernetes 1.35 writes down. */
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

/** `undefined` where the cluster's versions are no numbers: then nobody but this process can order them. */
export function stateText(state: ListState): string | undefined {
  if (!NUMBER.test(state.objects.newest) || !NUMBER.test(state.added.newest)) return undefined;
  return seenText(state);
}

/** How new either may be: the objects, and what is added to them. */
export const newer = (a: ListState, b: ListState): ListState => ({
  objects: laterState(a.objects, b.objects),
  added: laterState(a.added, b.added),
});

export const seenText = ({ objects, added }: ListState): string =>
  `${objects.newest}.${objects.count}.${added.newest}.${added.count}`;
