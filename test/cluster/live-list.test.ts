import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from './eventually.ts';
import { CLIENTS, type ClientName, LiveListClients, type Said } from './live-list-clients.ts';
import { LIST, type ListedNode, type LiveListStand, startRealStand, startSimulatedStand } from './live-list-stands.ts';

/** `npm run test:live-list` goes on for ten minutes; without the variable each thing happens once. */
const MINUTES = Number(process.env['LIVE_LIST_MINUTES'] ?? 0);
const NODES = ['node-a', 'node-b', 'node-c', 'node-d'];
const CPU = 'node.gatehouse.io/cpu-requests';
const ROUNDS_BETWEEN_RESTARTS = 5;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** What each client follows: one replica, the other, or the API server. */
const RESTARTS: readonly ((stand: LiveListStand) => Promise<void>)[] = [
  (stand) => stand.restartReplica(0),
  (stand) => stand.restartApiServer(),
  (stand) => stand.restartReplica(1),
];

class Round {
  readonly #stand: LiveListStand;
  readonly #clients: LiveListClients;
  #step = 0;

  constructor(stand: LiveListStand, clients: LiveListClients) {
    this.#stand = stand;
    this.#clients = clients;
  }

  /** Waits for each change, so that no newer one can replace it. */
  async run(): Promise<void> {
    const step = ++this.#step;
    const name = NODES[step % NODES.length] as string;
    await this.#stand.step(name, step);
    await this.#seen((one) => one.name === name && one.step === `${step}`);
    const cpu = `${step}m`;
    await this.#stand.use(name, cpu);
    await this.#seen((one) => one.name === name && one.cpu === cpu);
    const guest = `guest-${step}`;
    await this.#stand.createNode(guest);
    await this.#seen((one) => one.what === 'add' && one.name === guest);
    await this.#stand.removeNode(guest);
    await this.#seen((one) => one.what === 'delete' && one.name === guest);
    // When several changes come together, only the newest state has to be sent.
    for (const each of NODES) await this.#stand.step(each, step);
    await this.#seen((one) => one.name === NODES.at(-1) && one.step === `${step}`);
  }

  /** Whether this list has all of the rounds so far. A replica watches nodes and pods one beside the other, so both are looked at. */
  isShownBy = (nodes: readonly ListedNode[]): boolean => {
    const used = NODES[this.#step % NODES.length];
    const states = nodes.map(stateOfListed);
    const isCounted = states.some((state) => state.startsWith(`${used} `) && state.endsWith(` ${this.#step}m`));
    return (
      isCounted &&
      nodes.length === NODES.length &&
      states.some((state) => state.startsWith(`${NODES.at(-1)} ${this.#step} `))
    );
  };

  async #seen(isIt: (one: Said) => boolean): Promise<void> {
    for (const who of CLIENTS) {
      await eventually(
        async () => this.#clients.of(who, 'add', 'update', 'delete').slice(-100),
        (said) => said.some(isIt),
      );
    }
  }
}

const stateOf = ({ name, step = '', cpu }: Pick<Said, 'name' | 'step' | 'cpu'>): string => `${name} ${step} ${cpu}`;

const stateOfListed = ({ metadata: { name, labels, annotations } }: ListedNode): string =>
  stateOf({ name, step: labels?.['step'] ?? '', cpu: annotations[CPU] ?? '' });

/** The versions that a client got more than once, node by node. */
function doubled(clients: LiveListClients, who: ClientName): string[] {
  const seen = new Set<string>();
  return clients
    .of(who, 'add', 'update')
    .map(({ name, version }) => `${name} ${version}`)
    .filter((version) => seen.size === seen.add(version).size);
}

describe.each([
  ['the simulated API server', startSimulatedStand],
  ['a real API server', startRealStand],
])('client-go on %s', (_, startStand) => {
  test(
    'sees each change once through restarts of Gatehouse and of the API server, and lists once',
    async () => {
      const stand = await startStand();
      ends.push(() => stand.stop());
      for (const name of NODES) await stand.createNode(name);
      await eventually(
        () => stand.list(),
        (nodes) => NODES.every((name) => nodes.some((n) => n.metadata.name === name)),
      );
      const clients = await LiveListClients.start({ urls: stand.urls, path: LIST, token: stand.token });
      ends.push(() => clients.kill());
      const round = new Round(stand, clients);
      const until = performance.now() + MINUTES * 60_000;
      let restarts = 0;
      do {
        for (let at = 0; at < (MINUTES > 0 ? ROUNDS_BETWEEN_RESTARTS : 1); at++) await round.run();
        await RESTARTS[restarts++ % RESTARTS.length]?.(stand);
        await round.run();
      } while (performance.now() < until || restarts < RESTARTS.length);
      // The replica that is asked may be behind the one that told the clients.
      const listed = await eventually(() => stand.list(), round.isShownBy);
      const truth = listed.map(stateOfListed).sort();
      await clients.end();
      for (const who of CLIENTS) {
        expect(clients.of(who, 'held').map(stateOf).sort()).toEqual(truth);
        expect(doubled(clients, who)).toEqual([]);
        expect(clients.of(who, 'watch').filter(({ whole }) => whole)).toHaveLength(1);
        expect(clients.of(who, 'list')).toEqual([]);
      }
      const counted = CLIENTS.map(
        (who) =>
          `${who} ${clients.of(who, 'add', 'update', 'delete').length} events, ${clients.of(who, 'watch').length} watches`,
      );
      console.log(`${restarts} restarts; ${counted.join('; ')}`);
    },
    300_000 + MINUTES * 60_000,
  );
});
