import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type Service, startService } from '../integration/service/stand.ts';
import { tellMeasured } from '../support/measured.ts';
import { type FarServer, startFarServer } from './far-server.ts';

/** From a dead connection to a cache that is current: 10 s until TCP asks, 10 more until it gives up, and a back-off. */
const LIMIT_MS = 45_000;
/** Longer than TCP takes to give up, shorter than the limit of silence. */
const PARTITION_MS = 30_000;

let far: FarServer | undefined;
afterEach(async () => {
  await far?.heal();
  await far?.stop();
  far = undefined;
});

const SERIES = (name: string, label: string): string => `gatehouse_reflector_${name}{resource="nodes",${label}}`;

/** Gatehouse here, its cluster in the other namespace, one node mirrored. */
async function start() {
  const server = await startFarServer();
  far = server;
  const { kubeconfig } = await server.tell({ kind: 'create', name: 'a' });
  const config = { authorization: { mode: 'AlwaysAllow' }, kubernetes: { allowCredentialsOverHttp: true } };
  const service = await startService({ kubeconfig: () => kubeconfig }, { config });
  const { access_token: token } = await service.signIn('ada');
  const names = async (): Promise<string[]> => {
    const { status, body } = await service.list(token);
    expect([status, await service.readiness()]).toEqual([200, 200]);
    return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name).sort();
  };
  expect(await names()).toEqual(['a']);
  return { server, service, names };
}

/** Asks until this node is there, ready and answered 200 all along; the milliseconds that it took. */
async function untilListed(name: string, names: () => Promise<string[]>): Promise<number> {
  const began = performance.now();
  while (!(await names()).includes(name)) {
    if (performance.now() - began > LIMIT_MS) throw new Error(`${name} was not seen within ${LIMIT_MS} ms`);
    await sleep(100);
  }
  return performance.now() - began;
}

const resets = (service: Service): Promise<number> => service.metric(SERIES('watches_total', 'end="reset"'));

describe('a network that loses connections without a word', () => {
  test('C-05 a connection that the server has forgotten is found dead within 45 s, and the watch resumes without a list', async () => {
    const { server, service, names } = await start();
    const { clientPorts, lists } = await server.tell({ kind: 'look' });
    expect(clientPorts.length).toBeGreaterThan(0);
    await server.drop(clientPorts);
    await server.tell({ kind: 'forget' });
    await server.tell({ kind: 'create', name: 'b' });
    const took = await untilListed('b', names);
    expect(took).toBeLessThanOrEqual(LIMIT_MS);
    expect(took).toBeGreaterThan(1_000); // else nothing was dropped
    tellMeasured('C-05', took, 'from the loss of the connection until the change is listed');
    expect((await server.tell({ kind: 'look' })).lists).toBe(lists);
    expect(await resets(service)).toBe(1);
  });

  test('C-05 a partition is survived from memory, and its end is noticed within 45 s without a list', async () => {
    const { server, service, names } = await start();
    const { lists } = await server.tell({ kind: 'look' });
    await server.dropAll();
    await server.tell({ kind: 'create', name: 'b' });
    for (const until = performance.now() + PARTITION_MS; performance.now() < until; await sleep(500))
      expect(await names()).toEqual(['a']);
    expect(await resets(service)).toBe(1);
    await server.heal();
    expect(await untilListed('b', names)).toBeLessThanOrEqual(LIMIT_MS);
    expect((await server.tell({ kind: 'look' })).lists).toBe(lists);
  });
});
