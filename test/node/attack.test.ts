import { setTimeout as sleep } from 'node:timers/promises';
import type { CoreV1EventList } from '@kubernetes/client-node';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { Attack } from '../integration/fuzz/attack.ts';
import { passwordOf } from '../integration/service/stand.ts';
import { hashOf } from '../support/passwords.ts';
import { Caller, NODES as LIST } from './stand/caller.ts';
import { ClusterNodes } from './stand/cluster-nodes.ts';
import { Crowd, TRICKLED } from './stand/crowd.ts';
import { Follower } from './stand/follower.ts';
import { kubectl } from './stand/kubectl.ts';
import { Release } from './stand/release.ts';

const NODES = 5_000;
const HOSTILE_REQUESTS = Number(process.env['NODE_HOSTILE_REQUESTS'] ?? 2_000);
const SIGN_INS = 400;
const SIGN_INS_AT_ONCE = 64;
const SLOW_SENDERS = 1_000;
const SLOW_READERS = 100;
const WATCHERS = 1_000;
const CHANGES = 10;
const PROBE_MS = 100;
const PORT = 9090;
/** If hardly a node changes in so long, the controllers have written to all of them. */
const CALM_MS = 5_000;
const MOST_LOOKS = 24;

/** All of this comes from one address, and what only some may do is open to these callers, so that it is attacked too. */
const VALUES = {
  users: { existingSecret: 'people' },
  config: {
    // A thousand watchers that begin at once wait for one access review together, and count as requests until then.
    limits: {
      maxConnectionsPerAddress: 10_000,
      maxWatchesPerUser: 1_024,
      maxRequestsInFlight: 2_048,
      sendTimeout: '30s',
    },
    // Or else a flood of sign-ins would end at the throttle, before any password is hashed.
    authentication: { tokenReview: { callerAuth: 'none' }, addressRateLimiterMaxTries: 1_000_000 },
  },
};

const release = new Release('attack');
let nodes: ClusterNodes;
let caller: Caller;
let token: string;
/** Failures of the kubelet's probes so far. */
let failedProbes: number;

beforeAll(async () => {
  nodes = await ClusterNodes.open();
  await nodes.simulate(NODES);
  await kubectl(['create', 'namespace', release.namespace]);
  const users = [
    { name: 'ada', groups: ['gatehouse-admins'], passwordHash: await hashOf(passwordOf('ada')) },
    { name: 'joe', groups: [], passwordHash: await hashOf(passwordOf('joe')) },
  ];
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'people' } };
  const file = { 'users.yaml': JSON.stringify({ users }) };
  await release.kubectl(['apply', '-f', '-'], JSON.stringify({ ...secret, stringData: file }));
  await release.install(VALUES);
  await release.caller();
  // Not by way of the node's port: who is to blame for what goes wrong shall be certain.
  caller = new Caller(`http://${(await release.pod()).status?.podIP}:${PORT}`);
  token = (await caller.signIn(await release.password())).access_token;
  failedProbes = await countFailedProbes();
});
afterAll(async () => {
  await release.remove();
  await nodes.deleteSimulated();
  await nodes.close();
});

/** Lists every `PROBE_MS` until `work` has ended; answers the times that it took, and what was not 200. */
async function probing(work: Promise<unknown>) {
  const times: number[] = [];
  const wrong: string[] = [];
  const state = { working: true };
  const done = work.finally(() => {
    state.working = false;
  });
  while (state.working) {
    const began = performance.now();
    const outcome = await caller.list(token, '?limit=10').then(({ status }) => status, String);
    if (outcome !== 200) wrong.push(`${outcome}`);
    times.push(performance.now() - began);
    await sleep(PROBE_MS);
  }
  await done;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor(sorted.length * share)]!);
  return { wrong, told: `${times.length} lists meanwhile: ${at(0.5)} ms in the middle, ${at(0.99)} ms for 99 of 100` };
}

/** The version of the list when the controllers have done with the new nodes, or after two minutes. */
async function calm(): Promise<string> {
  const follower = new Follower(caller, token);
  const stop = new AbortController();
  const running = follower.run(stop.signal);
  let news = NODES;
  for (let look = 0; look < MOST_LOOKS && news > NODES / 100; look++) {
    const before = follower.events.length;
    await sleep(CALM_MS);
    news = follower.events.length - before;
  }
  stop.abort();
  await running;
  const { headers, body } = await request(`${caller.url}${LIST}?limit=0`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await body.dump();
  return String(headers['etag']).slice(1, -1);
}

/** Neither the kernel nor the kubelet ended it, and no probe wanted to, or took it out of service. */
async function expectUnharmed(): Promise<void> {
  const { containerStatuses, conditions } = (await release.pod()).status!;
  const [container] = containerStatuses!;
  expect(container).toMatchObject({ restartCount: 0, ready: true });
  expect(container?.lastState).toEqual({});
  const before = failedProbes;
  failedProbes = await countFailedProbes();
  const readySince = conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  // A single probe may be late. It takes two to make the pod unready.
  expect(failedProbes - before, `probes that failed; ready since ${readySince}`).toBeLessThan(2);
}

async function countFailedProbes(): Promise<number> {
  const { items } = await release.get<CoreV1EventList>('events', '--field-selector=reason=Unhealthy');
  return items.reduce((sum, { count = 1 }) => sum + count, 0);
}

async function metric(name: string): Promise<number> {
  const { status } = await release.pod();
  const { body } = await request(`http://${status?.podIP}:9091/metrics`, { reset: true });
  const line = (await body.text()).split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

const resident = async (): Promise<string> =>
  `${Math.round((await metric('process_resident_memory_bytes')) / 2 ** 20)} MiB`;

const tell = (...parts: readonly unknown[]): void =>
  console.log(parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join('; '));

describe(`a pod with 2 CPUs and 512 Mi in front of ${NODES} nodes`, () => {
  test('lists them all', async () => {
    expect((await caller.list(token, '?limit=1')).body.totalItems).toBe(NODES + 1);
    tell(`at rest with ${NODES} nodes`, await resident());
  });

  test('R-12 answers hostile requests below 500', async () => {
    const url = new URL(caller.url);
    const attack = new Attack(
      {
        gatehouse: { host: url.hostname, port: Number(url.port) },
        signIn: (person) => caller.signIn(passwordOf(person), person),
        signInAnswer: (username, password) => caller.token({ grant_type: 'password', username, password }),
        metric,
      },
      1,
    );
    const { wrong, told } = await probing(attack.send(HOSTILE_REQUESTS));
    tell(`${HOSTILE_REQUESTS} hostile requests`, Object.fromEntries(attack.statuses), told, await resident());
    expect(attack.wrong).toEqual([]);
    expect(wrong).toEqual([]);
    await expectUnharmed();
  });

  test('R-08 answers a flood of sign-ins with 400 or 429', async () => {
    const statuses = new Map<number, number>();
    const flood = Array.from({ length: SIGN_INS_AT_ONCE }, async (_, at) => {
      for (let turn = at; turn < SIGN_INS; turn += SIGN_INS_AT_ONCE) {
        const form = { grant_type: 'password', username: `nobody-${turn}`, password: 'mistyped' };
        const { status } = await caller.token(form);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    const { wrong, told } = await probing(Promise.all(flood));
    tell(`${SIGN_INS} sign-ins`, Object.fromEntries(statuses), told, await resident());
    expect([...statuses.keys()].filter((status) => status !== 400 && status !== 429)).toEqual([]);
    expect(wrong).toEqual([]);
    await expectUnharmed();
  });

  test('R-08 tells connections with slow headers and slow bodies 408', async () => {
    const crowd = new Crowd(caller.url);
    for (let at = 0; at < SLOW_SENDERS; at++) crowd.add(TRICKLED[at % TRICKLED.length]!);
    const { wrong, told } = await probing(crowd.ended());
    tell(`${SLOW_SENDERS} slow senders`, told, await resident());
    expect(crowd.beginnings.filter((text) => !text.startsWith('HTTP/1.1 408 '))).toEqual([]);
    expect(wrong).toEqual([]);
    await expectUnharmed();
  });

  test('R-08 cuts off readers that take nothing of a whole list', async () => {
    const crowd = new Crowd(caller.url, { reads: false });
    for (let at = 0; at < SLOW_READERS; at++) crowd.get(LIST, token);
    const connections = (): Promise<number> => metric('gatehouse_http_connections');
    await eventually(connections, (open) => open >= SLOW_READERS);
    const { wrong, told } = await probing(eventually(connections, (open) => open < SLOW_READERS / 2));
    tell(`${SLOW_READERS} readers that take nothing`, told, await resident());
    crowd.leave();
    expect(wrong).toEqual([]);
    await expectUnharmed();
  });

  test(`R-08 ${WATCHERS} watchers get each change`, async () => {
    const version = await calm();
    const crowd = new Crowd(caller.url);
    const begun = crowd.have(WATCHERS, '"BOOKMARK"');
    for (let at = 0; at < WATCHERS; at++) crowd.get(`${LIST}?watch=true&resourceVersion=${version}`, token);
    await begun;
    const changing = async (): Promise<void> => {
      for (let at = 0; at < CHANGES; at++) {
        const told = crowd.have(WATCHERS, `"round-${at}"`);
        await nodes.label(at, `round-${at}`);
        await told;
      }
    };
    const { wrong, told } = await probing(changing());
    tell(`${CHANGES} changes for ${WATCHERS} watchers`, told, await resident());
    expect(crowd.open).toBe(WATCHERS);
    crowd.leave();
    expect(wrong).toEqual([]);
    await expectUnharmed();
  });
});
