import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../src/kubernetes/object.ts';
import type { ListerWatcher } from '../../../../src/kubernetes/reflector/lister-watcher.ts';
import { StoreReflector } from '../../../../src/kubernetes/reflector/reflector.ts';
import { SharedWatch } from '../../../../src/kubernetes/reflector/shared-watch.ts';
import type { ReflectedStore, Replacement, StoredEntry } from '../../../../src/kubernetes/reflector/store.ts';
import { countedNode, type PodEntry, PodStore } from '../../../../src/nodes/usage/pod-store.ts';
import { UsageLedger } from '../../../../src/nodes/usage/usage-ledger.ts';
import { type Steps, TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MapStore } from '../../../support/map-store.ts';
import { checkAsync } from '../../../support/property.ts';
import { measured, silent } from '../../kubernetes/objects.ts';
import { isCounted, PodServer, type ServedPod } from './pod-server.ts';

const NODES = ['node-a', 'node-b', 'node-c'];
const PODS = ['one', 'two', 'three', 'four', 'five'];

/** Notes up to which version the pods are in it, and how many lists were. */
class NotingPodStore extends PodStore {
  version = 0;
  lists = 0;

  override put(entry: PodEntry): void {
    this.version = Number(entry.resourceVersion);
    super.put(entry);
  }

  override remove(key: string, resourceVersion: string): void {
    this.version = Number(resourceVersion);
    super.remove(key, resourceVersion);
  }

  override *prepare(entries: readonly PodEntry[], replacement: Replacement): Steps<() => void> {
    const show = yield* super.prepare(entries, replacement);
    return () => {
      show();
      this.lists++;
      this.version = Number(replacement.resourceVersion);
    };
  }
}

const cpuOf = ({ spec }: ServedPod): bigint => {
  const [container] = spec.containers as { resources: { requests: { cpu: string } } }[];
  return BigInt(container?.resources.requests.cpu ?? 0) * 10n ** 9n;
};

/** The sum of the cpu requests on each node, computed anew. */
const naive = (pods: readonly ServedPod[]): bigint[] =>
  NODES.map((node) =>
    pods.filter((pod) => isCounted(pod) && pod.spec.nodeName === node).reduce((sum, pod) => sum + cpuOf(pod), 0n),
  );

const sumsOf = (ledger: UsageLedger): bigint[] => NODES.map((node) => ledger.of(node)?.sums[1]?.nano ?? 0n);

/** A ledger that follows the list of pods, one that shares nothing, and the list, while it is held. */
class Stand {
  readonly clock = new FakeClock();
  readonly server: PodServer;
  readonly shared = new SharedWatch(this.clock);
  readonly ledger = new UsageLedger();
  readonly pods = new NotingPodStore(this.ledger);
  readonly alone = new UsageLedger();
  readonly #stops = new AbortController();
  readonly #runs: Promise<void>[] = [];
  #list: { readonly store: MapStore; readonly letGo: AbortController } | undefined;

  constructor(hasWatchList: boolean) {
    this.server = new PodServer(hasWatchList);
    const { pods } = this;
    const part = {
      selects: (pod: KubernetesObject) => countedNode(pod) !== '',
      has: (key: string) => pods.get(key) !== undefined,
    };
    this.#run(this.shared.follow(this.server.source(isCounted), part), pods, this.#stops.signal);
    this.#run(this.server.source(isCounted), new PodStore(this.alone), this.#stops.signal);
  }

  #run<E extends StoredEntry>(source: ListerWatcher, store: ReflectedStore<E>, signal: AbortSignal): void {
    const { clock } = this;
    const random = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };
    const plan = { longestPeriodMs: 3_600_000, isWanted: async () => false };
    const parts = {
      name: 'pods',
      clock,
      random,
      plan,
      logger: silent,
      slices: new TimeSlices(clock),
      metrics: measured().metrics,
    };
    this.#runs.push(new StoreReflector({ ...parts, source, store }).run(signal));
  }

  hold(): void {
    if (this.#list) return;
    this.#list = { store: new MapStore(), letGo: new AbortController() };
    this.#run(this.shared.publish(this.server.source()), this.#list.store, this.#list.letGo.signal);
  }

  letGo(): void {
    this.#list?.letGo.abort();
    this.#list = undefined;
  }

  /** What the list of pods must be, and is; nothing while it is not held. */
  get lists(): readonly (readonly string[])[] {
    const all = this.server.at(this.server.version);
    const keys = all.map(({ metadata: { name, resourceVersion } }) => `default/${name}@${resourceVersion}`);
    return this.#list ? [keys.sort(), this.#list.store.versions()] : [];
  }

  /** Brings every change everywhere, and the bookmarks after them, until the watches have met. */
  async settle(): Promise<void> {
    for (let round = 0; round < 6; round++) {
      for (const watch of this.server.watches) watch.bookmark();
      await this.clock.advance(31_000);
    }
  }

  async stop(): Promise<void> {
    this.#stops.abort();
    this.letGo();
    await Promise.all(this.#runs);
  }
}

type Step =
  | {
      readonly what: 'put';
      readonly name: string;
      readonly nodeName: string;
      readonly cpu: number;
      readonly phase: string;
    }
  | { readonly what: 'remove'; readonly name: string }
  | { readonly what: 'deliver'; readonly watch: number; readonly most: number }
  | { readonly what: 'end'; readonly watch: number; readonly kind: 'closed' | 'reset' }
  | { readonly what: 'bookmark'; readonly watch: number }
  | { readonly what: 'pass'; readonly ms: number }
  | { readonly what: 'hold' | 'letGo' | 'advance' | 'compact' | 'settle' };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constant('put' as const),
      name: fc.constantFrom(...PODS),
      nodeName: fc.constantFrom('', ...NODES),
      cpu: fc.integer({ min: 1, max: 9 }),
      phase: fc.constantFrom('Pending', 'Running', 'Running', 'Succeeded', 'Failed'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('remove' as const), name: fc.constantFrom(...PODS) }) },
  {
    weight: 12,
    arbitrary: fc.record({
      what: fc.constant('deliver' as const),
      watch: fc.nat(2),
      most: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('end' as const),
      watch: fc.nat(2),
      kind: fc.constantFrom('closed' as const, 'reset' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('bookmark' as const), watch: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('pass' as const), ms: fc.constantFrom(0, 500, 2_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constantFrom('hold' as const, 'hold' as const, 'letGo' as const, 'advance' as const, 'settle' as const),
    }),
  },
);

async function play(stand: Stand, step: Step): Promise<void> {
  const { server } = stand;
  if (step.what === 'put') server.put(step.name, step);
  if (step.what === 'remove') server.remove(step.name);
  if (step.what === 'deliver') server.watches[step.watch]?.deliver(step.most);
  if (step.what === 'end') server.watches[step.watch]?.end({ kind: step.kind });
  if (step.what === 'bookmark') server.watches[step.watch]?.bookmark();
  if (step.what === 'hold') stand.hold();
  if (step.what === 'letGo') stand.letGo();
  if (step.what === 'advance') server.advance();
  if (step.what === 'compact') server.compact();
  if (step.what === 'settle') await stand.settle();
  await stand.clock.advance(step.what === 'pass' ? step.ms : 0);
}

/** At any moment the sums are those of the version that the ledger has. */
function expectExact({ server, ledger, pods }: Stand): void {
  expect(sumsOf(ledger)).toEqual(naive(server.at(pods.version)));
}

async function playAll(stand: Stand, all: readonly Step[]): Promise<void> {
  await stand.clock.advance(0);
  for (const watch of stand.server.watches) watch.deliver(1); // both ledgers list at the same version
  for (const step of all) {
    await play(stand, step);
    expectExact(stand);
  }
  await stand.settle();
}

describe('a ledger that follows the list of pods', () => {
  test('KD-23 has exact sums, and the versions of a ledger with a watch of its own, whatever comes and goes', async () => {
    const anyCase = fc.asyncProperty(
      fc.boolean(),
      fc.array(steps, { maxLength: 80, size: 'max' }),
      async (hasWatchList, all) => {
        const stand = new Stand(hasWatchList);
        await playAll(stand, all);
        expect(sumsOf(stand.ledger)).toEqual(naive(stand.server.at(stand.server.version)));
        expect([stand.ledger.pods.state, stand.pods.lists]).toEqual([stand.alone.pods.state, 1]);
        const [expected, listed] = stand.lists;
        expect(listed).toEqual(expected);
        expect(stand.server.watches.length).toBe(2);
        await stand.stop();
      },
    );
    await checkAsync(anyCase, { cases: 200, short: 100 });
  });

  test('KD-23 has exact sums when versions expire', async () => {
    const withExpiry = fc.oneof(
      { weight: 9, arbitrary: steps },
      { weight: 1, arbitrary: fc.constant<Step>({ what: 'compact' }) },
    );
    const anyCase = fc.asyncProperty(fc.array(withExpiry, { maxLength: 80, size: 'max' }), async (all) => {
      const stand = new Stand(true);
      await playAll(stand, all);
      await stand.settle(); // after back-offs
      expect(sumsOf(stand.ledger)).toEqual(naive(stand.server.at(stand.server.version)));
      expect(stand.server.watches.length).toBe(2);
      await stand.stop();
    });
    await checkAsync(anyCase, { cases: 100, short: 50 });
  });
});
