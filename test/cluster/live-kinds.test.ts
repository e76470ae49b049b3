import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword } from '../../src/users/password-hash.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { CLIENTS, type ClientName, LiveListClients, type Said } from './live-list-clients.ts';
import { grantWidgets, installWidgets, WRITTEN_WIDGETS } from './widgets.ts';
import { stateOf, WRITTEN_PODS, type WrittenKind, WrittenObjects } from './written-objects.ts';

/** `npm run test:live-list` goes on for ten minutes; without the variable each replica ends once. */
const MINUTES = Number(process.env['LIVE_LIST_MINUTES'] ?? 0);
const USER = 'ada';
const ROOT = '/kapis/resources.gatehouse.io/v1alpha3';
/** Changes of a kind before the next process ends. */
const CHANGES_BETWEEN = 20;

let cluster: ControlPlane;
let folder: string;
let ports: readonly number[];
const replicas: Gatehouse[] = [];

/**
 * Every caller may do everything, because this test is about the content of watches. Both replicas accept each other's tokens, and have the
 * same users file: another hash would count as another password, and end the sessions begun with the old one.
 */
const startReplica = (at: number): Promise<Gatehouse> => {
  const config = {
    authorization: { mode: 'AlwaysAllow' },
    authentication: { oauthOptions: { issuer: 'http://localhost/oauth' } },
    users: { file: join(folder, 'users.json') },
  };
  return startGatehouse(cluster, {}, { port: ports[at] ?? 0, config });
};

beforeAll(async () => {
  cluster = await startControlPlane();
  await installWidgets(cluster);
  ports = await freePorts(2);
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-live-kinds-'));
  const users = [{ name: USER, groups: [], passwordHash: await hashPassword(`${USER}-password`, 10) }];
  await writeFile(join(folder, 'users.json'), JSON.stringify({ users }));
  // One after the other: the second finds the signing key of the first.
  for (const at of ports.keys()) replicas.push(await startReplica(at));
  await grantWidgets(cluster);
});

afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function restart(at: number, how: 'stop' | 'terminate'): Promise<void> {
  await replicas[at]?.[how]();
  replicas[at] = await startReplica(at);
}

const RESTARTS: readonly (() => Promise<void>)[] = [
  () => restart(0, 'stop'),
  () => restart(1, 'terminate'),
  () => restart(1, 'stop'),
  () => restart(0, 'terminate'),
];

const keyOf = (state: string): string => state.split(' ')[0] as string;

/** The step of a state, which counts the changes of all objects of the kind. */
const stepOf = (state: string): number => Number(state.split(' ')[1]);

const byKey = (states: readonly string[]): Map<string, string[]> => Map.groupBy(states, keyOf);

/** The last state of each of these objects. */
const lastOfEach = (states: readonly string[], keys: readonly string[]): (string | undefined)[] => {
  const all = byKey(states);
  return keys.map((key) => all.get(key)?.at(-1));
};

/** One kind that is written, and one client that follows it. */
class FollowedKind {
  readonly #clients: LiveListClients;
  readonly #who: ClientName;
  readonly #written: WrittenObjects;

  constructor(written: WrittenObjects, clients: LiveListClients, who: ClientName) {
    this.#written = written;
    this.#clients = clients;
    this.#who = who;
  }

  /** As in `WrittenObjects.states`. The versions are not compared, because those of a live list are the list's. */
  get told(): string[] {
    return this.#of('add', 'update', 'delete').map(({ what, name, step = '' }) =>
      what === 'delete' ? `${name} gone` : `${name} ${step}`,
    );
  }

  /** Whether it was told of this step, or of a newer one. A new object has none and counts as step 0. */
  hasReached = (step: number): boolean => this.told.some((state) => stepOf(state) >= step);

  /** The newest step that is written now. */
  get newest(): number {
    return stepOf(this.#written.states.findLast((state) => stepOf(state) > 0) ?? 'none 0');
  }

  /** Compares all that it was told with all that was written. To be called when the client has ended. */
  async judge(): Promise<void> {
    const [written, told] = [this.#written.states, this.told];
    const places = new Map(written.map((state, at) => [state, at]));
    const left = (await this.#written.list()).map(stateOf);
    // No state that never was, and none after a newer one.
    for (const states of byKey(told).values()) {
      const order = states.map((state) => places.get(state) ?? -1);
      expect(order).not.toContain(-1);
      expect(order).toEqual(order.toSorted((one, other) => one - other));
    }
    const keys = [...new Set([...told, ...left].map(keyOf))];
    expect(lastOfEach(told, keys)).toEqual(lastOfEach(written, keys));
    expect(
      this.#of('held')
        .map(({ name, step = '' }) => `${name} ${step}`)
        .sort(),
    ).toEqual(left.sort());
    const watches = this.#of('watch');
    const begun = watches.filter(({ whole }) => whole).length;
    const unseen = byKey(written).size - byKey(told).size;
    console.log(`${this.#who}: ${written.length} changes, ${told.length} events, ${watches.length} watches`);
    // A new replica goes on from the version of a client, so nothing is lost, and nobody begins again.
    expect({ begun, unseen }).toEqual({ begun: 1, unseen: 0 });
  }

  #of(...what: readonly Said['what'][]): Said[] {
    return this.#clients.of(this.#who, ...what);
  }
}

const KINDS: readonly { kind: WrittenKind; path: string; cached: string; typed: 'pods' | 'custom' }[] = [
  { kind: WRITTEN_PODS, path: `${ROOT}/pods`, cached: '', typed: 'pods' },
  {
    kind: WRITTEN_WIDGETS,
    path: `${ROOT}/namespaces/default/widgets.example.com`,
    cached: 'Widget.v1.example.com',
    typed: 'custom',
  },
];

test(
  'KD-26 client-go and controller-runtime lose no change of pods and of a custom resource, while Gatehouse processes end and start under them',
  async () => {
    const token = await (replicas[0] as Gatehouse).signIn(USER);
    const urls = replicas.map(({ url }) => url);
    const enough = new AbortController();
    const [written, processes, followed]: [WrittenObjects[], LiveListClients[], FollowedKind[]] = [[], [], []];
    let writing: Promise<unknown> = Promise.resolve();
    try {
      for (const { kind, path, cached, typed } of KINDS) {
        const objects = await WrittenObjects.open(cluster, kind);
        const clients = await LiveListClients.start({ urls, path, token, kind: typed });
        const cache = await LiveListClients.startCache({ urls, path, token, kind: cached });
        written.push(objects);
        processes.push(clients, cache);
        followed.push(
          ...CLIENTS.map((who) => new FollowedKind(objects, clients, who)),
          new FollowedKind(objects, cache, 'cache'),
        );
      }
      /** Only then the next process ends: a client that is cut off again and again would see little more than first states. */
      const caughtUp = async (): Promise<void> => {
        for (const one of followed) {
          const step = one.newest;
          await eventually(
            async () => one.hasReached(step),
            (has) => has,
          );
        }
      };
      await caughtUp();
      writing = Promise.all(written.map((objects) => objects.run(enough.signal)));
      const until = performance.now() + MINUTES * 60_000;
      let restarts = 0;
      do {
        const before = written.map(({ changes }) => changes.length);
        await eventually(
          async () => written.every(({ changes }, at) => changes.length >= (before[at] as number) + CHANGES_BETWEEN),
          (areAll) => areAll,
        );
        await caughtUp();
        await RESTARTS[restarts++ % RESTARTS.length]?.();
      } while (performance.now() < until || restarts < 2);
      enough.abort();
      await writing;
      await caughtUp();
      await Promise.all(processes.map((one) => one.end()));
      for (const one of followed) await one.judge();
      console.log(`${restarts} restarts of a replica`);
    } finally {
      enough.abort();
      await Promise.allSettled([writing]);
      for (const one of processes) one.kill();
      for (const one of written) await one.close();
    }
  },
  300_000 + MINUTES * 60_000,
);
