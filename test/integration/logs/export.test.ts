import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type SimulatedLogStore, startSimulatedLogStore } from '../../../dev/log-store/log-store.ts';
import type { LogDocument } from '../../../dev/log-store/stored-record.ts';
import { atEnd } from '../../support/at-end.ts';
import { type CannedStore, foundBody, hit, startCannedStore } from '../../support/logs/canned-store.ts';
import { handedOver, otherEnd } from '../../support/own-sockets.ts';
import { LOGS, type LogsUnderTest, startDrivenLogs, startLogs, startOwnLogs } from './logs-under-test.ts';

const DAY = Date.parse('2026-03-09T00:00:00Z');
const MiB = 1024 * 1024;

/** So many records, a second from one to the next, each with a message of so many characters and a newline. */
const records = (count: number, length = 20): LogDocument[] =>
  Array.from({ length: count }, (_, at) => ({
    log: `${`message ${at} `.padEnd(length, '.')}\n`,
    time: new Date(DAY + at * 1_000).toISOString(),
    kubernetes: { namespace_name: 'a', pod_name: 'p', container_name: 'c', docker_id: 'd' },
  }));

/** An export as it comes, which is read when the test reads it. */
async function begin({ service, token }: LogsUnderTest, headers: Readonly<Record<string, string>> = {}) {
  const { port } = service.gatehouse;
  const path = `${LOGS}?operation=export`;
  const asking = request({ port, path, agent: false, headers: { authorization: `Bearer ${token}`, ...headers } }).end();
  asking.on('error', () => {});
  atEnd(() => asking.destroy());
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  answer.on('error', () => {});
  return { answer, leave: () => void asking.destroy() };
}

/** All that comes, and whether it came to its end. */
async function readAll(answer: IncomingMessage): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  answer.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => answer.once('close', resolve));
  return { bytes: Buffer.concat(chunks), isWhole: answer.complete };
}

const CUT = 'gatehouse_log_exports_cut_total';

describe('an export', () => {
  let store: SimulatedLogStore;
  let logs: LogsUnderTest;
  beforeAll(async () => {
    store = await startSimulatedLogStore();
    store.add(records(2_500));
    logs = await startLogs({ logging: { host: store.url, exportLogsLimit: 1_500 } });
  });
  afterAll(async () => {
    await logs?.stop();
    await store?.stop();
  });
  afterEach(() => expect.poll(() => store.openScrolls()).toBe(0));

  test('L-10 has the newest messages up to the limit exactly, whatever `sort` says, and leaves no scroll', async () => {
    const newest = records(2_500).slice(1_000).reverse();
    const { status, headers, text } = await logs.ask({ operation: 'export', sort: 'asc' });
    expect([status, text]).toEqual([200, newest.map(({ log }) => log).join('')]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': 'attachment',
      'cache-control': 'no-store',
      vary: 'Accept-Encoding',
    });
    expect([headers.get('content-length'), headers.get('etag')]).toEqual([null, null]);
  });

  test('L-10 is the same compressed', async () => {
    const plain = await logs.ask({ operation: 'export' });
    const { answer } = await begin(logs, { 'accept-encoding': 'gzip' });
    const { bytes, isWhole } = await readAll(answer);
    expect([answer.headers['content-encoding'], isWhole]).toEqual(['gzip', true]);
    expect(gunzipSync(bytes).toString()).toBe(plain.text);
    expect(bytes.length).toBeLessThan(plain.text.length / 2);
  });

  test('of nothing is empty', async () => {
    const { status, text } = await logs.ask({ operation: 'export', pods: 'nobody' });
    expect([status, text]).toEqual([200, '']);
  });

  test('has headers and asks the store nothing for a HEAD', async () => {
    const before = store.requests.length;
    const { status, headers, text } = await logs.ask({ operation: 'export' }, { method: 'HEAD' });
    expect([status, text, headers.get('content-type')]).toEqual([200, '', 'text/plain; charset=utf-8']);
    expect(store.requests.length).toBe(before);
  });

  test.each(['text/plain', 'application/json', '*/*'])('is sent to whoever accepts %s', async (accept) => {
    const { status, headers } = await logs.ask({ operation: 'export' }, { headers: { accept } });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  });

  test.each(['identity', 'gzip'])('L-10 whose client leaves gives its scroll back (%s)', async (coding) => {
    const { answer, leave } = await begin(logs, { 'accept-encoding': coding });
    await once(answer, 'readable');
    leave();
    await expect.poll(() => store.openScrolls()).toBe(0);
    expect(await logs.metric(CUT)).toBe(0);
  });
});

describe('an export of long messages', () => {
  const KB = 1_000;
  const text = (documents: readonly LogDocument[]): string =>
    documents
      .toReversed()
      .map(({ log }) => log)
      .join('');
  const sorted = (lines: string): string[] => lines.split('\n').sort();

  /** What is exported of these, and the sizes of the pieces that were asked for. */
  async function exported(documents: readonly LogDocument[]) {
    const store = await startSimulatedLogStore();
    atEnd(() => store.stop());
    store.add(documents);
    const logs = await startOwnLogs({ logging: { host: store.url } });
    const answer = await logs.ask({ operation: 'export' });
    await expect.poll(() => store.openScrolls()).toBe(0);
    const sizes = store.requests.filter(({ path }) => path.includes('&scroll=')).map(({ body }) => body['size']);
    return { ...answer, sizes };
  }

  test('L-14 has all of them, in pieces that are halved until they fit', async () => {
    const documents = records(100, 200 * KB);
    const answer = await exported(documents);
    expect([answer.status, answer.text === text(documents)]).toEqual([200, true]);
    expect(answer.sizes).toEqual([500, 250, 125, 62]);
  });

  test('L-14 has each once where long ones come after short ones', async () => {
    const documents = [...records(90, 200 * KB), ...records(700).slice(90)];
    const answer = await exported(documents);
    expect([answer.status, answer.text === text(documents)]).toEqual([200, true]);
  });

  test('L-14 has each once where all have one time', async () => {
    const at = { time: new Date(DAY).toISOString() };
    const documents = [...records(600), ...records(690, 200 * KB).slice(600)].map((one) => ({ ...one, ...at }));
    const answer = await exported(documents);
    expect(answer.status).toBe(200);
    expect(sorted(answer.text)).toEqual(sorted(text(documents)));
  });

  test('L-14 is refused where one alone is longer than an answer may be', async () => {
    const { status, body } = await exported(records(1, 17 * MiB));
    expect([status, body.message]).toEqual([
      502,
      'the log store refuses the query: a message of the log store is too long',
    ]);
  });
});

describe('a message', () => {
  test('L-10 has no colour codes and one newline at its end, and stays whole otherwise', async () => {
    const messages = ['\u001b[31mred\u001b[0m', 'two\nlines\n', '', 'Größe 订单\r\n', 'nul\u0000 and \u2028\n'];
    const store = await startCannedStore(() => ({ body: foundBody(messages.map((log, at) => hit(9 - at, log))) }));
    atEnd(() => store.stop());
    const { ask } = await startOwnLogs({ logging: { host: store.url } });
    const { text } = await ask({ operation: 'export' });
    expect(text).toBe('red\ntwo\nlines\n\nGröße 订单\r\nnul\u0000 and \u2028\n');
  });
});

test('L-10 messages as long as runtimes let lines be are exported whole', async () => {
  const line = `${'{"level":"info","text":"'.repeat(16 * 1024)}`.slice(0, 16 * 1024 - 1);
  let [left, pieceSize] = [1_000, 0];
  const store = await startCannedStore(({ method, body }) => {
    if (method === 'DELETE') return { body: {} };
    pieceSize = Number(body['size'] ?? pieceSize); // said once, with the search
    const size = Math.min(left, pieceSize);
    left -= size;
    return {
      body: foundBody(
        Array.from({ length: size }, (_, at) => hit(DAY - at, line)),
        1_200,
        { _scroll_id: 's-1' },
      ),
    };
  });
  atEnd(() => store.stop());
  const logs = await startOwnLogs({ logging: { host: store.url } });
  const { status, text } = await logs.ask({ operation: 'export' });
  expect([status, text.length]).toEqual([200, 1_000 * 16 * 1024]);
});

describe('a store that fails within an export', () => {
  /** Answers a first piece of a thousand, and then as the test says. */
  async function startFailing(next: CannedStore['answer']) {
    const hits = Array.from({ length: 1_000 }, (_, at) => hit(DAY - at));
    const closed: unknown[] = [];
    const store = await startCannedStore((asked) => {
      if (asked.method === 'DELETE') {
        closed.push(asked.body['scroll_id']);
        return { body: { succeeded: true } };
      }
      return asked.path.endsWith('/_search/scroll')
        ? next(asked)
        : { body: foundBody(hits, 5_000, { _scroll_id: 's-1' }) };
    });
    atEnd(() => store.stop());
    return { store, closed };
  }

  const missing = { type: 'search_context_missing_exception', reason: 'No search context found for id [1]' };
  test.each<[string, CannedStore['answer']]>([
    ['dies', ({ socket }) => void socket.destroy()],
    ['refuses', () => ({ status: 404, body: { error: { root_cause: [missing] } } })],
    ['gives an answer of some shards', () => ({ body: foundBody([hit(1)], 5_000, { _shards: { failed: 1 } }) })],
    ['breaks off', ({ response }) => void response.write('{"hits":', () => response.destroy())],
  ])('L-10 after 1,000 messages (%s) has the connection cut, is counted, and loses its scroll', async (_, next) => {
    const { store, closed } = await startFailing(next);
    const logs = await startOwnLogs({ logging: { host: store.url } });
    for (const coding of ['identity', 'gzip']) {
      const { answer } = await begin(logs, { 'accept-encoding': coding });
      const { isWhole } = await readAll(answer);
      expect([answer.statusCode, isWhole]).toEqual([200, false]);
    }
    expect(await logs.metric(CUT)).toBe(2);
    await expect.poll(() => closed).toEqual([['s-1'], ['s-1']]);
  });

  test('L-10 has the connection reset for a client of HTTP/1.0, to whom its mere end would be that of the file', async () => {
    const { store, closed } = await startFailing(({ socket }) => void socket.destroy());
    const { service, token } = await startOwnLogs({ logging: { host: store.url } });
    const socket = connect(service.gatehouse.port, '127.0.0.1');
    const end = new Promise((resolve) => socket.once('error', resolve).once('end', () => resolve('the end')));
    socket.resume().write(`GET ${LOGS}?operation=export HTTP/1.0\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    expect(await end).toMatchObject({ code: 'ECONNRESET' });
    await expect.poll(() => closed).toEqual([['s-1']]);
  });

  test('that is silent for 30 s has the connection cut, and the request at the store ended', async () => {
    const { store, closed } = await startFailing(() => undefined);
    const logs = await startDrivenLogs({ logging: { host: store.url } });
    const { answer } = await begin(logs);
    const reading = readAll(answer);
    await expect.poll(() => store.open()).toBe(1);
    expect((await logs.clock.during(reading, 1_000)).isWhole).toBe(false);
    await expect.poll(() => [store.open(), closed]).toEqual([0, [['s-1']]]);
    expect(await logs.metric(CUT)).toBe(1);
  });

  test('is no matter to a client that has left meanwhile: its scroll is given back, and nothing is counted', async () => {
    const { store, closed } = await startFailing(() => undefined);
    const logs = await startOwnLogs({ logging: { host: store.url } });
    const { answer, leave } = await begin(logs);
    answer.resume();
    await expect.poll(() => store.open()).toBe(1);
    leave();
    await expect.poll(() => [store.open(), closed]).toEqual([0, [['s-1']]]);
    expect(await logs.metric(CUT)).toBe(0);
  });
});

describe('a client that reads slowly', () => {
  const PIECE = 1_000;
  const LENGTH = 1_000;
  let store: CannedStore;
  let logs: LogsUnderTest;
  /** Of 16 MiB on their way, what is not with the kernel: how much that takes, its settings say. */
  const OF_OURS = 4 * MiB;
  /** The end of the connection from which this answer is sent. */
  const sentTo = ({ socket }: IncomingMessage) => otherEnd(socket);
  /** Bytes of messages that the store has given. */
  let given = 0;
  let closed = 0;
  beforeAll(async () => {
    const hits = Array.from({ length: PIECE }, (_, at) => hit(DAY - at, 'x'.repeat(LENGTH - 1)));
    const body = foundBody(hits, 1_000_000, { _scroll_id: 's-1' });
    store = await startCannedStore(({ method }) => {
      if (method === 'DELETE') closed++;
      else given += PIECE * LENGTH;
      return { body: method === 'DELETE' ? {} : body };
    });
    logs = await startLogs({ logging: { host: store.url, exportLogsLimit: 100_000 } });
  });
  afterAll(async () => {
    await logs?.stop();
    await store?.stop();
  });

  test('L-10 has the store asked at its pace: at most 16 MiB are on their way', async () => {
    given = 0;
    closed = 0;
    const { answer } = await begin(logs);
    const sent = sentTo(answer);
    let taken = 0;
    let most = 0;
    while (taken < 24 * MiB) {
      const chunk = answer.read() as Buffer | null;
      if (!chunk) await once(answer, 'readable');
      taken += chunk?.length ?? 0;
      most = Math.max(most, given - handedOver(sent));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(most).toBeLessThan(OF_OURS);
    answer.destroy();
    await expect.poll(() => closed).toBe(1);
  });

  test('and then not at all has at most 16 MiB on their way, and gives the scroll back when it leaves', async () => {
    given = 0;
    closed = 0;
    const { answer, leave } = await begin(logs);
    await once(answer, 'readable');
    const sent = sentTo(answer);
    for (let turn = 0; turn < 60; turn++) await logs.service.list(logs.token); // time enough for 100 MB
    expect(given - handedOver(sent)).toBeLessThan(OF_OURS);
    leave();
    await expect.poll(() => closed).toBe(1);
  });

  test('L-10 that takes nothing for `limits.sendTimeout` is cut off, and its scroll is given back', async () => {
    closed = 0;
    const slow = await startOwnLogs({ logging: { host: store.url }, config: { limits: { sendTimeout: '1s' } } });
    const { answer } = await begin(slow);
    await once(answer, 'readable');
    await expect.poll(() => closed).toBe(1);
    await expect.poll(() => slow.service.logged('request').at(-1)).toMatchObject({ aborted: true });
    expect(await slow.metric(CUT)).toBe(0);
  });
});
