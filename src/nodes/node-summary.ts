import { hash } from 'node:crypto';
import type { Leaf } from '../resources/bytes/leaf.ts';
import { piecesComposer } from '../resources/bytes/list-body.ts';
import { type Representation, VersionedRepresentation } from '../resources/bytes/representation.ts';
import type { RunningLister } from '../resources/cache.ts';
import type { Entry } from '../resources/entries/entry.ts';
import type { ResourceStore } from '../resources/entries/store.ts';
import { derived } from '../runtime/derived.ts';
import type { Steps } from '../runtime/time-slices.ts';
import { NODE_STATUS_WORDS } from './node-kind.ts';
import { type Amount, NOTHING, plus, sumText, toAmount } from './usage/amount.ts';
import { FIGURES } from './usage/pod-usage.ts';
import { parseQuantity } from './usage/quantity.ts';
import { type Allocatable, usageKey } from './usage/usage-decoration.ts';
import { type UsageLedger, UsageSum } from './usage/usage-ledger.ts';

export interface NodeSummaryParts {
  readonly store: ResourceStore;
  readonly lister: Pick<RunningLister, 'refresh'>;
  /** Absent: nodes have no usage annotations, and the summary has no usage. */
  readonly ledger?: Pick<UsageLedger, 'podCount'> | undefined;
}

/** What a node can give, in the order of a node's amounts; those of `FIGURES` follow. */
const GIVEN = ['cpu', 'memory', 'pods'] as const;

/** The sums over the nodes of one leaf. Immutable. */
interface LeafSums {
  /** In the order of `NODE_STATUS_WORDS`. */
  readonly counts: readonly number[];
  /** In the order of `GIVEN`, then in that of `FIGURES`. */
  readonly amounts: readonly Amount[];
}

/** An answer, and the state that it shows. */
interface Made {
  readonly version: number;
  readonly scheduled: number | undefined;
  readonly answer: Representation | Promise<Representation>;
}

/**
 * How full the cluster is: the nodes of each status word, and the sums of what the node list shows of each node (NT-01, NT-02). A leaf
 * of the list never changes, so after a change only the leaves with changed nodes are read again, and the sums over all of them move by
 * the difference. The answer is made once for each state of the list. The first one reads every node, in slices of time: 15,000 take 0.2 s.
 */
export class NodeSummary {
  readonly #parts: NodeSummaryParts;
  readonly #sumsOf: (leaf: Leaf<Entry>) => LeafSums;
  /** It has no leaf, which would keep old nodes in memory while nobody asks. */
  readonly #whole = new WholeSums();
  #made: Made | undefined;

  constructor(parts: NodeSummaryParts) {
    this.#parts = parts;
    const keys = parts.ledger ? FIGURES.map((figure) => usageKey(parts.store.kind.platform, figure)) : [];
    this.#sumsOf = derived(({ entries }) => sumsOver(entries, keys));
  }

  /** The summary of the present list. Throws a 503 `StatusError` as the list does. */
  read(): Representation | Promise<Representation> {
    const { lister, store, ledger } = this.#parts;
    const version = lister.refresh();
    const scheduled = ledger?.podCount;
    const known = this.#made;
    if (known?.version === version && known.scheduled === scheduled) return known.answer;
    const answer = store.slices.run(this.#steps(store.snapshot().leaves, scheduled));
    this.#made = { version, scheduled, answer };
    return answer;
  }

  *#steps(leaves: readonly Leaf<Entry>[], scheduled: number | undefined): Steps<Representation> {
    const parts = new Set<LeafSums>();
    for (const leaf of leaves) {
      parts.add(this.#sumsOf(leaf));
      yield;
    }
    const text = JSON.stringify(this.#whole.of(parts, scheduled));
    // The tag is made of the content, so it stays while only what the summary does not show changes, such as a heartbeat.
    const tag = hash('sha256', text, 'hex').slice(0, 32);
    return new VersionedRepresentation(tag, piecesComposer([Buffer.from(text)]), this.#parts.store.slices);
  }
}

function sumsOver(nodes: readonly Entry[], keys: readonly string[]): LeafSums {
  const amounts = nodes.map((node) => amountsOf(node, keys));
  const sumAt = (at: number): Amount => amounts.reduce((sum, ofNode) => plus(sum, ofNode[at] ?? NOTHING), NOTHING);
  return {
    counts: NODE_STATUS_WORDS.map((word) => nodes.filter(({ status }) => status === word).length),
    amounts: [...GIVEN, ...keys].map((_, at) => sumAt(at)),
  };
}

/** Reads the usage from the annotations that the list shows, so that the sums are those of the texts in it. */
function amountsOf({ own, encoded }: Entry, keys: readonly string[]): readonly Amount[] {
  const given = GIVEN.map((resource) => (own as Allocatable)[resource]);
  if (keys.length === 0) return given;
  const shown = JSON.parse(`{${encoded.added}}`) as Readonly<Record<string, string>>;
  for (const key of keys) {
    const quantity = parseQuantity(shown[key]);
    given.push(quantity ? toAmount(quantity) : NOTHING);
  }
  return given;
}

/** The sums over all leaves, exact, so that a leaf that is gone can be taken out again. */
class WholeSums {
  #parts: ReadonlySet<LeafSums> = new Set();
  readonly #counts = NODE_STATUS_WORDS.map(() => 0);
  readonly #amounts = [...GIVEN, ...FIGURES].map(() => new UsageSum());

  /** Moves on to these leaves. Returns the body; `scheduled` is `undefined` if the nodes have no usage annotations. */
  of(parts: ReadonlySet<LeafSums>, scheduled: number | undefined): object {
    for (const part of parts) if (!this.#parts.has(part)) this.#apply(part, 1);
    for (const part of this.#parts) if (!parts.has(part)) this.#apply(part, -1);
    this.#parts = parts;
    return this.#body(scheduled);
  }

  #apply({ counts, amounts }: LeafSums, sign: 1 | -1): void {
    for (const [at, count] of counts.entries()) this.#counts[at] = (this.#counts[at] ?? 0) + sign * count;
    for (const [at, amount] of amounts.entries()) this.#amounts[at]?.apply(amount, sign);
  }

  #body(scheduled: number | undefined): object {
    const [cpu, memory, pods, cpuLimits, cpuRequests, memoryLimits, memoryRequests] = this.#amounts;
    const isUsed = scheduled !== undefined;
    const used = (resource: 'cpu' | 'memory', requests = NO_SUM, limits = NO_SUM) =>
      isUsed ? { requests: sumText(resource, requests), limits: sumText(resource, limits) } : {};
    return {
      nodes: {
        total: this.#counts.reduce((sum, count) => sum + count, 0),
        ...Object.fromEntries(NODE_STATUS_WORDS.map((word, at) => [word, this.#counts[at]])),
      },
      cpu: { allocatable: sumText('cpu', cpu ?? NO_SUM), ...used('cpu', cpuRequests, cpuLimits) },
      memory: { allocatable: sumText('memory', memory ?? NO_SUM), ...used('memory', memoryRequests, memoryLimits) },
      pods: { allocatable: sumText('pods', pods ?? NO_SUM), ...(isUsed ? { scheduled } : {}) },
    };
  }
}

const NO_SUM: Pick<UsageSum, 'nano' | 'format'> = new UsageSum();
