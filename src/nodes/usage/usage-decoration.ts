import { compareResourceVersions } from '../../kubernetes/object.ts';
import { type CollectionState, later, NOTHING } from '../../resources/entries/collection-version.ts';
import type { Entry } from '../../resources/entries/entry.ts';
import type { DecoratedStore, Decoration } from '../../resources/entries/kind.ts';
import type { AddedProgress } from '../../resources/entries/list-progress.ts';
import { type Additions, Redecorating } from '../../resources/entries/redecorating.ts';
import { type Amount, sumText } from './amount.ts';
import { FIGURES } from './pod-usage.ts';
import { divideUp, NANO } from './quantity.ts';
import type { NodeUsage, UsageLedger } from './usage-ledger.ts';

export interface UsageOptions {
  /** DNS label: prefix of the annotations. */
  readonly platform: string;
  readonly ledger: UsageLedger;
  /**
   * If the usage of more nodes than this changed, their annotations are written in a copy of the list, in slices of time.
   * Default: 300. At 5,000 pod events a second, 50 nodes change between two reads of a watch.
   */
  readonly mostCountedAtOnce?: number | undefined;
}

/** Writes the ledger's sums into the annotations of the nodes. Expects a node's `Allocatable` in `own` of its entry. */
export function createUsageDecoration(
  { platform, ledger, mostCountedAtOnce }: UsageOptions,
  store: DecoratedStore,
): Decoration {
  const progress = new UsageProgress(ledger);
  const additions: Additions<TakenUsage> = {
    progress,
    get changedCount() {
      return ledger.changedCount;
    },
    decorate(node) {
      const members = usageMembers(platform, ledger.of(node.key), node.own as Allocatable);
      return members === node.encoded.added ? node : { ...node, encoded: node.encoded.withAdded(members) };
    },
    take() {
      const { state: pods } = ledger.pods;
      return { names: ledger.takeChanged(), pods };
    },
    giveBack({ names }) {
      ledger.giveBack(names);
      progress.giveAsideUp();
    },
    aside: (taken) => progress.countAside(taken),
    writes(node, { names }, isAside) {
      const version = names.get(node) as string;
      if (isAside) progress.usedAhead(node, version);
      else progress.changed(node, version);
    },
    shown: (taken) => progress.counted(taken),
  };
  return new Redecorating(additions, store, mostCountedAtOnce);
}

/** What a node can give to pods, and how many pods it takes. `NOTHING` if the node does not say it in a readable form. */
export interface Allocatable {
  readonly cpu: Amount;
  readonly memory: Amount;
  readonly pods: Amount;
}

/** The resources whose usage is shown. */
type UsedResource = 'cpu' | 'memory';

const NANO_OF_MILLI = 10n ** 6n;

const NO_SUM = { nano: 0n, format: undefined };

/** The key of the annotation with a sum, or with the number of pods. */
export const usageKey = (platform: string, figure: (typeof FIGURES)[number] | 'pods'): string =>
  `node.${platform}.io/${figure}`;

/** The nine annotation keys. */
export const usageKeys = (platform: string): ReadonlySet<string> =>
  new Set([
    ...FIGURES.flatMap((figure) => [usageKey(platform, figure), `${usageKey(platform, figure)}-fraction`]),
    usageKey(platform, 'pods'),
  ]);

/** The nine annotations as JSON members. All are zero without pods. Plain ASCII, because a platform is a DNS label. */
export function usageMembers(
  platform: string,
  usage: NodeUsage | undefined,
  allocatable: Pick<Allocatable, UsedResource>,
): string {
  const members = FIGURES.map((figure, at) => {
    const resource = figure.startsWith('cpu') ? 'cpu' : 'memory';
    const sum = usage?.sums[at] ?? NO_SUM;
    const key = usageKey(platform, figure);
    const fraction = percentage(resource, sum.nano, allocatable[resource].nano);
    return `"${key}":"${sumText(resource, sum)}","${key}-fraction":"${fraction}"`;
  });
  members.push(`"${usageKey(platform, 'pods')}":"${usage?.pods ?? 0}"`);
  return members.join();
}

/**
 * Computed as KubeSphere 3.4 does: from whole milli-cores or bytes, with doubles in this order, cut toward zero. So
 * 0.29 / 1 * 100 is 28 %, as there.
 */
function percentage(resource: UsedResource, sum: bigint, allocatable: bigint): string {
  const unit = resource === 'cpu' ? NANO_OF_MILLI : NANO;
  const whole = Number(divideUp(allocatable, unit));
  if (whole === 0) return '0%';
  const percent = Math.trunc((Number(divideUp(sum, unit)) / whole) * 100);
  return `${BigInt(percent)}%`;
}

/** Changed usage, taken from the ledger to be written into the nodes. */
export interface TakenUsage {
  /** The nodes, each with the version of the newest change of its sums. */
  readonly names: ReadonlyMap<string, string>;
  /** The state of the pods that the list of nodes shows once all of this usage is written. */
  readonly pods: CollectionState;
}

/** The progress of the usage that the nodes show. */
export class UsageProgress implements AddedProgress {
  readonly #ledger: UsageLedger;
  /** The state of the pods that all nodes show. Single nodes may be ahead while a large change is written in a copy. */
  #pods: CollectionState = NOTHING;
  /** The usage that is being written in a copy and not shown yet. */
  #aside: TakenUsage | undefined;
  /** The version of the pods at which the sums of each node changed last. */
  readonly #usedAt = new Map<string, string>();

  constructor(ledger: UsageLedger) {
    this.#ledger = ledger;
  }

  get shown(): CollectionState {
    return this.#pods;
  }

  /** A node that is written now shows the present sums of the ledger. */
  get reached(): CollectionState {
    return this.#ledger.pods.state;
  }

  hasShown(pods: CollectionState): boolean {
    const isAllShown = !this.#aside && this.#ledger.changedCount === 0;
    const isShown = isAllShown || compareResourceVersions(pods.newest, this.#pods.newest) <= 0;
    return isShown && this.#ledger.pods.has(pods);
  }

  knowsAfter(pods: CollectionState, seen?: CollectionState): boolean {
    return this.#ledger.pods.knowsAfter(pods, seen);
  }

  changedAt(name: string): string | undefined {
    return this.#usedAt.get(name);
  }

  broughtAt(entry: Entry, previous: Entry | undefined): string | undefined {
    // The ledger may have had the pods before their node came.
    if (!previous) return this.reached.newest;
    if (previous.encoded.added === entry.encoded.added) return undefined;
    return this.#aheadAt(entry.key);
  }

  forget(name: string): void {
    this.#usedAt.delete(name);
  }

  /** Records that this usage is being written in a copy. The list's version does not include it until the copy is shown. */
  countAside(taken: TakenUsage): void {
    this.#aside = taken;
  }

  giveAsideUp(): void {
    this.#aside = undefined;
  }

  /** Records that the nodes show all of this usage from now on. */
  counted({ pods }: TakenUsage): void {
    this.#aside = undefined;
    this.#pods = pods;
  }

  /** Records that the sums of a node last changed at this version. */
  changed(name: string, version: string): void {
    this.#usedAt.set(name, version);
  }

  /**
   * Records that a node got the sums that the ledger has now. They may be newer than those of the other nodes in the
   * list. So a client that resumes from the state of the list gets this node again.
   */
  usedAhead(name: string, counted?: string): void {
    this.changed(name, this.#aheadAt(name, counted));
  }

  #aheadAt(name: string, counted = this.#aside?.names.get(name)): string {
    const known = this.#usedAt.get(name) ?? NOTHING.newest;
    const pending = this.#ledger.changedAt(name) ?? known;
    return later(later(known, counted ?? known), pending);
  }
}
