import { once } from 'node:events';
import * as http from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { toHttpLimits } from '../../../src/service/http-options.ts';
import { toTokenServiceOptions } from '../../../src/service/token-options.ts';
import { atEnd } from '../../support/at-end.ts';
import { freePorts } from '../../support/control-plane/free-ports.ts';
import { Watcher } from '../../support/watcher.ts';
import { rawExchange } from '../http/app-under-test.ts';
import { eventually, NODES, passwordOf, type Service } from '../service/stand.ts';
import { ODD, startOdd } from './odd-settings.ts';

vi.mock('node:http', async (original) => {
  const real = await original<typeof http>();
  return { ...real, createServer: vi.fn(real.createServer) };
});

/** Node's own server of this port, whose timers have no clock of ours. */
const serverAt = (port: number): http.Server | undefined =>
  vi
    .mocked(http.createServer)
    .mock.results.map(({ value }) => value as http.Server)
    .find((server) => (server.address() as { port?: number } | null)?.port === port);

const rejected = (service: Service, reason: string): Promise<number> =>
  service.metric(`gatehouse_http_rejections_total{reason="${reason}"}`);

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

/** A GET of /version with so many header lines, or so many bytes of head. */
const withLines = (count: number): string =>
  `GET /version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'a: b\r\n'.repeat(count - 2)}\r\n`;
const withBytes = (count: number): string => {
  const head = 'GET /version HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: ';
  return `${head}${'x'.repeat(count - head.length - 4)}\r\n\r\n`;
};

const formOf = (length: number): string => `grant_type=x&x=${'x'.repeat(length - 15)}`;
const postForm = ({ gatehouse }: Service, length: number): Promise<Response> =>
  fetch(`${gatehouse.origin}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: formOf(length),
  });

/** Idle connections from two addresses of this machine, and how many of them the server has closed. */
async function openIdle(port: number, counts: Readonly<Record<string, number>>) {
  const closed = { count: 0 };
  for (const [localAddress, count] of Object.entries(counts)) {
    for (let at = 0; at < count; at++) {
      const socket: Socket = connect({ host: '127.0.0.1', port, localAddress });
      socket.on('error', () => {}).on('close', () => closed.count++);
      await once(socket, 'connect');
      atEnd(async () => void socket.destroy());
    }
  }
  return closed;
}

const tokenOf = async (service: Service, name: string): Promise<string> =>
  (await service.signInAnswer(name, passwordOf('ada'))).body.access_token;

async function watchAs(service: Service, name: string, path = NODES): Promise<Watcher> {
  const authorization = `Bearer ${await tokenOf(service, name)}`;
  const watcher = await Watcher.open(`${service.gatehouse.origin}${path}?watch=true`, { authorization });
  atEnd(async () => watcher.close());
  return watcher;
}

/** With the gateway, whose upstream is the same cluster. */
const startOddGateway = () => startOdd({ config: { gateway: { enabled: true } } });
const CLUSTER_NODES = '/api/v1/nodes';

/** So many gets of a node through the gateway, which the cluster answers with silence; resolves when all but these are refused. */
async function crowdTheCluster({ service, cluster, clock }: Awaited<ReturnType<typeof startOdd>>, callers: string[]) {
  const tokens = new Map<string, string>();
  for (const name of new Set(callers)) tokens.set(name, await tokenOf(service, name));
  cluster.faults.until({ kind: 'nodes', verb: 'get' }, { connection: 'silence' });
  const statuses: number[] = [];
  const sent = callers.map(async (name) => {
    const { status } = await service.call(`${CLUSTER_NODES}/node-a`, { token: tokens.get(name) });
    statuses.push(status);
  });
  const waiting = () => cluster.evidence.count('get', 'nodes');
  await eventually(
    () => waiting() + statuses.length,
    (count) => count === callers.length,
  );
  const reached = waiting();
  const early = [...statuses];
  await clock.during(Promise.all(sent), 5_000);
  cluster.faults.clear();
  return { reached, early };
}

const refused = (service: Service, reason: string): Promise<number> =>
  service.metric(`gatehouse_gateway_refusals_total{reason="${reason}"}`);

const people = (counts: Readonly<Record<string, number>>): string[] =>
  Object.entries(counts).flatMap(([name, count]) => Array.from({ length: count }, () => name));

describe('configured ports', () => {
  test('server.port: the API is there', async () => {
    const [port = 0] = await freePorts(1);
    const { service } = await startOdd({ server: { port } });
    expect((await fetch(`http://127.0.0.1:${port}/version`)).status).toBe(200);
    expect(service.gatehouse.metricsPort).not.toBe(port);
  });

  test('server.metricsPort: the metrics are there', async () => {
    const [metricsPort = 0] = await freePorts(1);
    await startOdd({ server: { metricsPort } });
    expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toContain('gatehouse_build_info');
  });
});

describe('configured sizes', () => {
  test('limits.maxHeaderBytes: 5,003 bytes of header are served', async () => {
    const { service } = await startOdd();
    // The request line does not count for Node's parser, nor do the two bytes that end the header: both are few.
    const answers = [4_900, 5_100].map((count) => rawExchange(service.gatehouse.port, withBytes(count)));
    const [under = '', over = ''] = await Promise.all(answers);
    expect([statusOf(under), statusOf(over)]).toEqual([200, 431]);
    expect(over).toContain('its header is over 5003 bytes');
  });

  test('limits.maxHeaders: 37 header lines are served', async () => {
    const { service } = await startOdd();
    const answers = [37, 38].map((count) => rawExchange(service.gatehouse.port, withLines(count)));
    expect((await Promise.all(answers)).map(statusOf)).toEqual([200, 431]);
  });

  test('limits.maxFormBytes: 1,187 bytes of form are read', async () => {
    const { service } = await startOdd();
    const [fits, over] = [await postForm(service, 1_187), await postForm(service, 1_188)];
    expect([fits.status, over.status]).toEqual([401, 413]);
    expect(await over.text()).toContain('limit is 1187');
  });

  test('limits.maxBearerBytes: a bearer of 3,007 characters is judged', async () => {
    const { service } = await startOdd();
    const malformed = () => service.metric('gatehouse_token_verifications_total{result="malformed"}');
    await service.list('x'.repeat(3_007));
    expect(await malformed()).toBe(0);
    await service.list('x'.repeat(3_008));
    expect(await malformed()).toBe(1);
    // Nothing tells from outside what userinfo and sign-out make of one.
    const { config } = loadConfig('c.yaml', () => JSON.stringify(ODD));
    expect(toTokenServiceOptions(config).oauth.maxBearerBytes).toBe(3_007);
  });
});

describe('configured times', () => {
  test('limits.headersTimeout: Node waits 61 s for headers', async () => {
    const { service } = await startOdd();
    expect(serverAt(service.gatehouse.port)).toMatchObject({ headersTimeout: 61_000, requestTimeout: 80_000 });
  });

  test('limits.keepAliveTimeout: an idle connection is kept for 83 s, and clients are told', async () => {
    const { service } = await startOdd();
    expect(serverAt(service.gatehouse.port)).toMatchObject({ keepAliveTimeout: 83_000 });
    const answer = await rawExchange(service.gatehouse.port, 'GET /version HTTP/1.1\r\nHost: a\r\n\r\n', /\r\n\r\n/);
    expect(answer).toMatch(/\r\nKeep-Alive: timeout=83\r\n/);
  });

  test('limits.bodyTimeout: a body is waited for 19 s', async () => {
    const { service, clock } = await startOdd();
    const head = 'POST /oauth/token HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n';
    const socket = connect(service.gatehouse.port, '127.0.0.1');
    atEnd(async () => void socket.destroy());
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.write(`${head}Content-Type: application/x-www-form-urlencoded\r\n\r\n`);
    await eventually(
      () => text,
      (all) => all.includes('100 Continue'),
    );
    await clock.advance(18_999);
    expect(text).not.toContain('408');
    await clock.advance(1);
    await eventually(
      () => text,
      (all) => all.includes('the request body did not arrive within 19 s'),
    );
  });

  test('limits.answerTimeout: an answer may take 1.7 s', async () => {
    const { service, clock, cluster } = await startOdd();
    const { access_token: token } = await service.signIn('ada');
    cluster.faults.until({ kind: 'subjectaccessreviews' }, { connection: 'silence' });
    const before = cluster.evidence.count('create', 'subjectaccessreviews');
    let status = 0;
    const answer = service.list(token).then((given) => {
      ({ status } = given);
      return given;
    });
    await cluster.evidence.until(() => cluster.evidence.count('create', 'subjectaccessreviews') > before);
    await clock.advance(1_699);
    expect(status).toBe(0);
    await clock.advance(1);
    const { status: code, body } = await answer;
    expect([code, body.message]).toEqual([504, 'the request could not be answered within 1.7 s']);
    cluster.faults.clear();
  });
});

describe('configured times of a connection', () => {
  test('limits.sendTimeout: a client that reads nothing of a list is kept for 149 s', async () => {
    const { service, cluster } = await startOdd();
    const { access_token: token } = await service.signIn('ada');
    // 20 MB: more than the kernels take for a client that does not read.
    const note = 'x'.repeat(500_000);
    for (let at = 0; at < 40; at++)
      cluster.objects.create('nodes', { metadata: { name: `large-${at}` }, spec: { note } });
    const listed = async (): Promise<unknown> => (await service.list(token, '?limit=1')).body.totalItems;
    await eventually(listed, (total) => total === 43);
    const connected = once(serverAt(service.gatehouse.port) as http.Server, 'connection');
    const client = connect(service.gatehouse.port, '127.0.0.1').pause();
    atEnd(() => client.destroy());
    client.write(`GET ${NODES} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    const [socket] = (await connected) as [Socket];
    await eventually(
      () => socket.timeout,
      (ms) => ms === 149_000,
    );
    const { config } = loadConfig('c.yaml', () => JSON.stringify(ODD));
    expect(toHttpLimits(config).sendTimeoutMs).toBe(149_000); // streams have it from there, by our own clock
  });
});

describe('configured numbers at once', () => {
  test('limits.maxConnectionsPerAddress: 29 of one address', async () => {
    const { service } = await startOdd();
    const closed = await openIdle(service.gatehouse.port, { '127.0.0.2': 33 });
    await eventually(
      () => closed.count,
      (count) => count === 4,
    );
    await service.call('/version');
    expect([closed.count, await rejected(service, 'connections')]).toEqual([4, 0]);
  });

  test('limits.maxConnections: 41 of all', async () => {
    const { service } = await startOdd();
    const closed = await openIdle(service.gatehouse.port, { '127.0.0.2': 25, '127.0.0.3': 25 });
    await eventually(
      () => closed.count,
      (count) => count === 9,
    );
    const metric = () => service.metric('gatehouse_http_connections');
    expect([await metric(), closed.count]).toEqual([41, 9]);
  });

  test('limits.maxRequestsInFlight: 15 requests', async () => {
    const { service, clock, cluster } = await startOdd();
    const { access_token: token } = await service.signIn('ada');
    cluster.faults.until({ kind: 'subjectaccessreviews' }, { connection: 'silence' });
    const get = `GET ${NODES} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
    const sent = Array.from({ length: 16 }, () => rawExchange(service.gatehouse.port, get));
    await eventually(
      () => rejected(service, 'in_flight_other'),
      (count) => count === 1,
    );
    const text = (await clock.during(Promise.all(sent))).join('');
    expect([text.split('HTTP/1.1 504').length, text.split('HTTP/1.1 429').length]).toEqual([16, 2]);
    cluster.faults.clear();
  });

  test('limits.maxWatchesPerUser: three watches of one user', async () => {
    const { service } = await startOdd();
    const watches = [];
    for (let at = 0; at < 4; at++) watches.push(await watchAs(service, 'ada'));
    expect(watches.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect((await watchAs(service, 'joe')).status).toBe(200);
  });

  test('limits.maxWatches: five watches of all', async () => {
    const { service } = await startOdd();
    const watches = [];
    for (const name of ['ada', 'ada', 'joe', 'joe', 'eve', 'eve']) watches.push(await watchAs(service, name));
    expect(watches.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('limits.maxGatewayRequestsPerUser: ten calls of one user at the cluster', async () => {
    const odd = await startOddGateway();
    const { reached, early } = await crowdTheCluster(odd, people({ ada: 12, joe: 1 }));
    expect([reached, early]).toEqual([11, [429, 429]]);
    expect([await refused(odd.service, 'requests_per_user'), await refused(odd.service, 'requests')]).toEqual([2, 0]);
  });

  test('limits.maxGatewayRequests: 14 calls of all at the cluster', async () => {
    const odd = await startOddGateway();
    const { reached, early } = await crowdTheCluster(odd, people({ ada: 8, joe: 8 }));
    expect([reached, early]).toEqual([14, [429, 429]]);
    expect([await refused(odd.service, 'requests_per_user'), await refused(odd.service, 'requests')]).toEqual([0, 2]);
  });

  test('limits.maxGatewayStreamsPerUser: seven streams of one user', async () => {
    const { service } = await startOddGateway();
    const watches = [];
    for (const name of people({ ada: 8, joe: 1 })) watches.push(await watchAs(service, name, CLUSTER_NODES));
    expect(watches.map(({ status }) => status)).toEqual([...Array(7).fill(200), 429, 200]);
    expect([await refused(service, 'streams_per_user'), await refused(service, 'streams')]).toEqual([1, 0]);
  });

  test('limits.maxGatewayStreams: twelve streams of all', async () => {
    const { service } = await startOddGateway();
    const watches = [];
    for (const name of people({ ada: 6, joe: 6, eve: 1 })) watches.push(await watchAs(service, name, CLUSTER_NODES));
    expect(watches.map(({ status }) => status)).toEqual([...Array(12).fill(200), 429]);
    expect([await refused(service, 'streams_per_user'), await refused(service, 'streams')]).toEqual([0, 1]);
  });
});
