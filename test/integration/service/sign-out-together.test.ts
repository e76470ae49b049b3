import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { type DrivenClock, startDrivenReady } from './driven.ts';
import { type Answer, eventually, type Service, startCluster } from './stand.ts';

/** As many as are let in at once. */
const MANY = 512;

interface HeldWrites {
  readonly url: string;
  /** Requests that change a Secret, since they are held. */
  readonly count: number;
  hold(): void;
  goOn(): void;
}

/** Passes everything on to the server at `target`; what changes a Secret waits while it is held. */
async function startHolding(target: string): Promise<HeldWrites> {
  let count = 0;
  let held = Promise.withResolvers<void>();
  held.resolve();
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method, headers, url = '/' } = incoming;
    const onward = request(`${target}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      outgoing.flushHeaders();
      answer.on('error', () => outgoing.destroy()).pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  };
  const server = createServer((incoming, outgoing) => {
    const isWrite = incoming.method !== 'GET' && incoming.url?.includes('/secrets');
    if (isWrite) count++;
    if (isWrite) void held.promise.then(() => pass(incoming, outgoing));
    else pass(incoming, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get count() {
      return count;
    },
    hold: () => {
      held = Promise.withResolvers();
      count = 0;
    },
    goOn: () => held.resolve(),
  };
}

/** Time stands still while a write is held, so that its limit is not over before the last of the requests is in. */
async function start(): Promise<{ clock: DrivenClock; service: Service; writes: HeldWrites }> {
  const cluster = await startCluster();
  const writes = await startHolding(cluster.url);
  const kubeconfig = (): string => cluster.kubeconfig().replaceAll(cluster.url, writes.url);
  return { ...(await startDrivenReady({ kubeconfig }, { config: { sessions: { store: 'kubernetes' } } })), writes };
}

/** Every request is in before the write that was begun for the first one goes on. */
async function together(
  { clock, service, writes }: Awaited<ReturnType<typeof start>>,
  ask: (index: number) => Promise<Answer>,
): Promise<{ statuses: number[]; texts: string[]; writes: number }> {
  writes.hold();
  const early: Answer[] = [];
  const answers = Array.from({ length: MANY }, async (_, index) => {
    const answer = await ask(index);
    early.push(answer);
    return answer;
  });
  // One that is over does not come back, so then there is nothing left to wait for.
  await eventually(
    () => service.metric('gatehouse_http_requests_in_flight{class="other"}'),
    (count) => count >= MANY || early.length > 0,
  );
  expect(new Set(early.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set());
  expect(writes.count).toBe(1);
  writes.goOn();
  const settled = await clock.during(Promise.all(answers));
  const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
  return {
    statuses: distinct(settled.map(({ status }) => status)),
    texts: distinct(settled.map(({ text }) => text)),
    writes: writes.count,
  };
}

describe('512 sign-outs of one user at once', () => {
  test('T-31 with all=true cost a handful of writes, are answered when these stand, and end every session', async () => {
    const stand = await start();
    const { clock, service } = stand;
    const pairs = [await service.signIn('ada'), await service.signIn('ada'), await service.signIn('ada')];
    const tokens = pairs.map((pair) => pair.access_token);
    const found = await together(stand, (index) =>
      service.call('/oauth/logout?all=true', { token: tokens[index % tokens.length] }),
    );
    expect(found).toEqual({ statuses: [200], texts: ['{"message":"success"}'], writes: expect.any(Number) });
    expect(found.writes).toBeLessThanOrEqual(8);
    for (const { access_token, refresh_token } of pairs) {
      expect((await service.list(access_token)).status).toBe(401);
      expect((await service.refresh(refresh_token)).status).toBe(400);
    }
    const later = await clock.during(service.signIn('ada')); // it waits until the second of the cut-off is over
    expect((await service.list(later.access_token)).status).toBe(200);
    const ended = await service.metric('gatehouse_token_revocations_total{scope="user"}');
    expect(ended).toBeGreaterThan(0);
    // One for each batch of sign-outs; the write of a batch may already have been made for the one before.
    expect(ended).toBeLessThanOrEqual(8);
    expect(service.gatehouse.log.filter(({ event }) => event === 'sign_out').length).toBe(MANY);
  });

  test('T-31 of one session cost one write, and leave the others alone', async () => {
    const stand = await start();
    const { service } = stand;
    const [ended, other] = [await service.signIn('ada'), await service.signIn('ada')];
    const found = await together(stand, () => service.call('/oauth/logout', { token: ended.access_token }));
    expect(found).toEqual({ statuses: [200], texts: ['{"message":"success"}'], writes: 1 });
    expect((await service.list(ended.access_token)).status).toBe(401);
    expect((await service.list(other.access_token)).status).toBe(200);
  });
});
