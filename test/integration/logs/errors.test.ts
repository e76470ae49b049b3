import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Canned, type CannedStore, foundBody, hit, startCannedStore } from '../../support/logs/canned-store.ts';
import { RawConnection } from '../gateway/raw-connection.ts';
import type { Answer } from '../service/stand.ts';
import {
  LOGS,
  type LogsUnderTest,
  startDrivenLogs,
  startLogs,
  startOwnLogs,
  startOwnStore,
} from './logs-under-test.ts';

const failed = (status: number, error: unknown): Canned => ({ status, body: { error, status } });
const silent = (): Canned => undefined;

const status = (code: number, reason: string, message: string, details?: object) => {
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason };
  return details ? { ...head, details, code } : { ...head, code };
};

const told = ({ status: code, headers, body }: Answer) => [code, headers.get('retry-after'), body];
const retryAfterSeconds = 5;
const away = status(503, 'ServiceUnavailable', 'the log store is not available, please try again', {
  retryAfterSeconds,
});
const AWAY = [503, '5', away];
const TOO_SLOW = [504, null, status(504, 'Timeout', 'the logs could not be searched within 30 s')];
const refused = (text: string) => [502, null, status(502, 'BadGateway', `the log store refuses the query: ${text}`)];

let store: CannedStore;
let logs: LogsUnderTest;
beforeAll(async () => {
  store = await startCannedStore(silent);
  logs = await startLogs({ logging: { host: store.url } });
});
afterAll(async () => {
  await logs?.stop();
  await store?.stop();
});
afterEach(() => void store.asked.splice(0));

/** What a caller is told when the store answers this. */
async function answered(canned: CannedStore['answer'] | Canned, parameters: Readonly<Record<string, string>> = {}) {
  store.answer = typeof canned === 'function' ? canned : () => canned;
  return told(await logs.ask(parameters));
}

describe.each(['query', 'statistics', 'histogram', 'export'])('a %s', (operation) => {
  const root = { type: 'query_shard_exception', reason: 'no mapping found for [time] in order to sort on' };
  const outer = { root_cause: [], type: 'search_phase_execution_exception', reason: '' };
  const cause = { type: 'too_many_buckets_exception', reason: 'Trying to create too many buckets.' };

  test.each<[string, Canned, string]>([
    [
      'with a root cause',
      failed(400, { ...outer, root_cause: [root], reason: 'all shards failed' }),
      'query_shard_exception: no mapping found for [time] in order to sort on',
    ],
    [
      'with a failed shard alone',
      failed(500, { ...outer, failed_shards: [{ reason: root }] }),
      'query_shard_exception: no mapping found for [time] in order to sort on',
    ],
    [
      'for too many buckets (OpenSearch, Elasticsearch 7)',
      failed(503, { ...outer, caused_by: cause }),
      'too_many_buckets_exception: Trying to create too many buckets.',
    ],
    [
      'for too many buckets (Elasticsearch 8)',
      failed(400, { ...outer, caused_by: cause }),
      'too_many_buckets_exception: Trying to create too many buckets.',
    ],
  ])('L-03 that the store refuses %s is 502 with type and reason, asked once', async (_, canned, text) => {
    expect(await answered(canned, { operation })).toEqual(refused(text));
    expect(store.asked.length).toBe(1);
  });

  test.each<[string, Canned]>([
    ['does not know us', failed(401, { root_cause: [], type: 'security_exception', reason: 'missing authentication' })],
    ['does not let us', failed(403, { type: 'security_exception', reason: 'no permissions for [indices:data/read]' })],
    ['does not know us, by a text', { status: 401, body: 'Unauthorized' }],
    ['is overloaded', failed(429, { root_cause: [{ type: 'rejected_execution_exception', reason: 'full' }] })],
    ['lacks memory', failed(429, { root_cause: [{ type: 'circuit_breaking_exception', reason: 'Data too large' }] })],
    ['has a full disk', failed(429, { type: 'cluster_block_exception', reason: 'index [x] blocked by: [disk usage]' })],
    ['has lost shards', failed(503, { root_cause: [{ type: 'no_shard_available_action_exception', reason: '' }] })],
    ['sheds load', failed(500, { root_cause: [{ type: 'task_cancelled_exception', reason: 'cancelled task' }] })],
    ['stands behind a proxy that has lost it', { status: 502, body: '<html>Bad Gateway</html>' }],
    ['leads elsewhere', { status: 302, body: {} }],
    ['answers another thing', { body: { took: 1 } }],
    ['answers a list', { body: [] }],
    ['answers null', { body: null }],
    ['answers hits without a total', { body: foundBody([], 0, { hits: { hits: [] } }) }],
    ['answers for some of its shards', { body: foundBody([hit(1)], 1, { _shards: { total: 2, failed: 1 } }) }],
  ])('is 503 where the store %s', async (_, canned) => {
    expect(await answered(canned, { operation })).toEqual(AWAY);
  });

  test('is 503 where the store does not answer in JSON', async () => {
    const html: CannedStore['answer'] = ({ response }) => void response.end('<html>hello</html>');
    expect(await answered(html, { operation })).toEqual(AWAY);
  });

  test('is 503 where the answer of the store breaks off', async () => {
    const half: CannedStore['answer'] = ({ response }) => {
      response.writeHead(200, { 'content-length': 100_000 });
      response.write(JSON.stringify(foundBody([hit(1)])).slice(0, 100), () => response.destroy());
      return undefined;
    };
    expect(await answered(half, { operation })).toEqual(AWAY);
  });

  test('L-03 finds nothing where there is no index', async () => {
    const none = { type: 'index_not_found_exception', reason: 'no such index [ks-logstash-log-2026.03.09]' };
    store.answer = () => failed(404, { root_cause: [none], ...none });
    const { status: code, text } = await logs.ask({ operation });
    const nothing: Record<string, string> = {
      query: '{"query":{"total":0,"records":[]}}',
      statistics: '{"statistics":{"containers":0,"logs":0}}',
      histogram: '{"histogram":{"total":0,"histograms":[]}}',
      export: '',
    };
    expect([code, text]).toEqual([200, nothing[operation]]);
  });

  test.each<[string, Canned]>([
    ['gave up', { body: foundBody([], 0, { timed_out: true }) }],
    [
      'gave up, as Elasticsearch says it of whole answers',
      failed(504, { ...outer, root_cause: [{ type: 'search_timeout_exception', reason: 'Time exceeded' }] }),
    ],
    [
      'gave up, as OpenSearch says it of whole answers',
      failed(500, { ...outer, root_cause: [{ type: 'query_phase_execution_exception', reason: 'Time exceeded' }] }),
    ],
  ])('is 504 where the store %s', async (_, canned) => {
    expect(await answered(canned, { operation })).toEqual(TOO_SLOW);
  });

  test('L-11 ends at the store when its caller has left, and is no fault', async () => {
    store.answer = silent;
    const { service, token, metric } = logs;
    const request = `GET ${LOGS}?operation=${operation} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const client = await RawConnection.open(service.gatehouse.port, request);
    await expect.poll(() => store.open()).toBe(1);
    client.socket.destroy();
    await expect.poll(() => store.open()).toBe(0);
    await expect.poll(() => service.logged('request').at(-1)).toMatchObject({ status: 499 });
    expect(await metric('gatehouse_log_exports_cut_total')).toBe(0);
  });
});

describe('an answer of the store', () => {
  test('of more than 16 MiB is a refusal, and is not read to its end', async () => {
    const piece = Buffer.alloc(1024 * 1024, ' ');
    const flood: CannedStore['answer'] = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const pump = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', pump);
      pump();
      return undefined;
    };
    expect(await answered(flood)).toEqual(refused('the answer of the log store is too long; ask for fewer records'));
    await expect.poll(() => store.open()).toBe(0);
  });

  test('that is refused says nothing of where the store is', async () => {
    const reason =
      'node [{n1}{127.0.0.1}{127.0.0.1:9300}] at http://opensearch.logging:9200/x, [fd00::17]:9300, fd00:1::2, os-0.os.logging.svc.cluster.local failed';
    const canned = failed(400, { root_cause: [{ type: 'parsing_exception', reason }] });
    expect(await answered(canned)).toEqual(refused('parsing_exception: node [{n1}{…}{…}] at …, …, …, … failed'));
  });

  test('with a long reason is cut', async () => {
    const canned = failed(400, { root_cause: [{ type: 'parsing_exception', reason: 'a'.repeat(4_000_000) }] });
    expect(await answered(canned)).toEqual(refused(`parsing_exception: ${'a'.repeat(237)}`));
  });
});

describe('an interval', () => {
  test('under which the records found make more than 10,000 buckets is 400', async () => {
    const buckets = [0, 10_000_000].map((key) => ({ key, doc_count: 1 }));
    store.answer = () => ({ body: foundBody([], 2, { aggregations: { buckets: { buckets } } }) });
    const { status: code, body } = await logs.ask({ operation: 'histogram', interval: '1s' });
    expect([code, body.details.causes[0].field]).toEqual([400, 'interval']);
  });
});

test('L-14 a store of a version that is not supported is named, and nobody is told to try again, until it is another', async () => {
  const identity = { version: { number: '5.6.16' } };
  const old = await startOwnStore(({ path }) => ({ body: path === '/' ? identity : foundBody([], 0) }), {
    version: 'its own',
  });
  const { ask, service } = await startOwnLogs({ logging: { host: old.url } });
  const message =
    'the log store is Elasticsearch 5.6.16, which is not supported; Elasticsearch 6 to 9, OpenSearch 1 to 3 and Loki 3 are';
  expect(told(await ask())).toEqual([502, null, status(502, 'BadGateway', message)]);
  expect(JSON.stringify(service.logged('request').at(-1))).toContain('5.6.16');
  identity.version.number = '9.1.0';
  expect((await ask()).status).toBe(200);
});

test('L-11 a store that is away at the start is 503, and is found when it is back; all else is served meanwhile', async () => {
  const gone = await startCannedStore(silent);
  await gone.stop();
  const { ask, service, token } = await startOwnLogs({ logging: { host: gone.url } });
  for (const operation of ['query', 'export']) expect(told(await ask({ operation }))).toEqual(AWAY);
  expect([await service.readiness(), (await service.list(token)).status]).toEqual([200, 200]);
  const { port } = gone;
  await startOwnStore(() => ({ body: foundBody([], 7) }), { port });
  expect((await ask()).body).toEqual({ query: { total: 7, records: [] } });
});

test.each(['query', 'export'])('a %s is 504 after 30 s of silence, and ends at the store', async (operation) => {
  const mute = await startOwnStore(silent);
  const { ask, clock } = await startDrivenLogs({ logging: { host: mute.url } });
  const asking = ask({ operation });
  await expect.poll(() => mute.open()).toBe(1);
  expect(told(await clock.during(asking, 1_000))).toEqual(TOO_SLOW);
  await expect.poll(() => mute.open()).toBe(0);
});
