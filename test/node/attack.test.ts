import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Attack } from '../integration/fuzz/attack.ts';
import { passwordOf } from '../integration/service/stand.ts';
import { hashOf } from '../support/passwords.ts';
import type { Caller } from './stand/caller.ts';
import { ClusterNodes } from './stand/cluster-nodes.ts';
import { kubectl } from './stand/kubectl.ts';
import { Release } from './stand/release.ts';

const NODES = 5_000;
const HOSTILE_REQUESTS = Number(process.env['NODE_HOSTILE_REQUESTS'] ?? 2_000);
const PROBE_MS = 100;

/** All of this comes from one address, and what only some may do is open to these callers, so that it is attacked too. */
const VALUES = {
  users: { existingSecret: 'people' },
  config: {
    limits: { maxConnectionsPerAddress: 10_000 },
    authentication: { tokenReview: { callerAuth: 'none' } },
  },
};

const release = new Release('attack');
let nodes: ClusterNodes;
let caller: Caller;
let token: string;

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
  caller = await release.caller();
  token = (await caller.signIn(await release.password())).access_token;
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

/** Neither the kernel nor the kubelet ended it, and no probe wanted to. */
async function expectUnharmed(): Promise<void> {
  const [container] = (await release.pod()).status!.containerStatuses!;
  expect(container).toMatchObject({ restartCount: 0, ready: true });
  expect(container?.lastState).toEqual({});
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
});
