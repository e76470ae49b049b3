import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startSimulatedLogStore } from '../../../dev/log-store/log-store.ts';
import { atEnd } from '../../support/at-end.ts';
import { type CannedStore, foundBody, hit } from '../../support/logs/canned-store.ts';
import { RawConnection } from '../gateway/raw-connection.ts';
import {
  LOGS,
  letJoeRead,
  namespace,
  signInJoe,
  startOwnClusterWithRights,
  startOwnLogs,
  startOwnStore,
} from './logs-under-test.ts';

const AT = Date.parse('2026-03-09T00:00:00Z');

describe('many queries at once', () => {
  test('of one namespace reader do not refuse one another for want of reviews', async () => {
    const store = await startSimulatedLogStore();
    atEnd(() => store.stop());
    const cluster = await startOwnClusterWithRights();
    const names = Array.from({ length: 100 }, (_, at) => `n-${at}`);
    for (const name of names) cluster.objects.create('namespaces', namespace(name));
    letJoeRead(cluster, names.slice(0, 50));
    const logs = await startOwnLogs({ logging: { host: store.url }, cluster });
    const joe = await signInJoe(logs);
    const ranges = Array.from({ length: 12 }, (_, at) => names.slice(at * 8, at * 8 + 8).join());
    const answers = await Promise.all(ranges.map((namespaces) => logs.ask({ namespaces }, { token: joe })));
    expect(answers.map(({ status }) => status)).toEqual(ranges.map(() => 200));
  });
});

describe('clients that leave at any moment', () => {
  test.each(['identity', 'gzip'])('leave no scroll, no search and no place behind (%s)', async (coding) => {
    const hits = Array.from({ length: 500 }, (_, at) => hit(AT - at, 'x'.repeat(999)));
    const scrolls = new Set<unknown>();
    let count = 0;
    const answer: CannedStore['answer'] = ({ method, path, body, response }) => {
      if (method === 'DELETE') {
        for (const id of body['scroll_id'] as string[]) scrolls.delete(id);
        return { body: {} };
      }
      const id = path.includes('scroll=') ? `s-${++count}` : body['scroll_id'];
      scrolls.add(id);
      // An answer that nobody is there for any more was given to nobody: the store drops the search.
      response.on('close', () => response.writableFinished || scrolls.delete(id));
      return { body: foundBody(hits, 1_000_000, { _scroll_id: id }) };
    };
    const store = await startOwnStore(answer);
    const limits = { maxLogQueries: 64, maxLogQueriesPerUser: 64 };
    const logs = await startOwnLogs({ logging: { host: store.url }, config: { limits } });
    const { port } = logs.service.gatehouse;
    const one = async (index: number): Promise<void> => {
      const head = `Host: a\r\nAuthorization: Bearer ${logs.token}\r\nAccept-Encoding: ${coding}\r\n`;
      const client = await RawConnection.open(port, `GET ${LOGS}?operation=export HTTP/1.1\r\n${head}\r\n`);
      for (let turn = 0; turn < index; turn++) await new Promise((resolve) => setImmediate(resolve));
      if (index % 2) client.socket.resetAndDestroy();
      else client.socket.destroy();
    };
    await Promise.all(Array.from({ length: 60 }, (_, index) => one(index)));
    await expect.poll(() => logs.metric('gatehouse_log_queries_in_flight')).toBe(0);
    await expect.poll(() => [store.open(), [...scrolls]]).toEqual([0, []]);
    const agent = { port, path: `${LOGS}?size=0`, headers: { authorization: `Bearer ${logs.token}` } };
    const [last] = (await once(request(agent).end(), 'response')) as [IncomingMessage];
    last.resume();
    expect(last.statusCode).toBe(200);
  });
});
