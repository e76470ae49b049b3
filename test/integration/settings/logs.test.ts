import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startSimulatedLogStore } from '../../../dev/log-store/log-store.ts';
import { eventually } from '../../cluster/eventually.ts';
import { atEnd } from '../../support/at-end.ts';
import { logRecords } from '../../support/logs/log-records.ts';
import { ODD, startOdd } from './odd-settings.ts';

const LOGS = '/kapis/tenant.gatehouse.io/v1alpha2/logs';

/** A log store that takes requests and answers none. */
async function startSilentStore(): Promise<{ readonly url: string; readonly asked: () => number }> {
  const state = { asked: 0 };
  const server = createServer(() => void state.asked++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => state.asked };
}

/** So many log queries, which the store answers with silence: how many reached it, and what the others were told. */
async function crowdTheStore(callers: Readonly<Record<string, number>>) {
  const store = await startSilentStore();
  const limits = { ...ODD.limits, maxRequestsInFlight: 1_000 };
  const { service, clock } = await startOdd({ config: { limits, logging: { host: store.url } } });
  const statuses: number[] = [];
  const sent: Promise<unknown>[] = [];
  for (const [name, count] of Object.entries(callers)) {
    const { access_token: token } = await service.signIn(name as 'ada', 'ada-canary-password');
    for (let at = 0; at < count; at++)
      sent.push(service.call(LOGS, { token }).then(({ status }) => statuses.push(status)));
  }
  await eventually(
    async () => store.asked() + statuses.length,
    (count) => count === sent.length,
  );
  const [reached, early] = [store.asked(), [...statuses]];
  const metrics = await fetch(`http://127.0.0.1:${service.gatehouse.metricsPort}/metrics`);
  expect(await metrics.text()).toContain(`gatehouse_log_queries_in_flight ${reached}\n`);
  await clock.during(Promise.all(sent), 31_000);
  return { reached, early };
}

describe('the numbers of logs', () => {
  test('limits.maxLogQueriesPerUser: 18 queries of one user', async () => {
    expect(await crowdTheStore({ ada: 19, joe: 1 })).toEqual({ reached: 19, early: [429] });
  });

  test('limits.maxLogQueries: 20 queries of all', async () => {
    expect(await crowdTheStore({ ada: 11, joe: 11 })).toEqual({ reached: 20, early: [429, 429] });
  });

  test('logging.exportLogsLimit: 19 messages', async () => {
    const store = await startSimulatedLogStore();
    atEnd(() => store.stop());
    store.add(logRecords());
    const { service } = await startOdd({ config: { logging: { ...ODD.logging, host: store.url } } });
    const { access_token: token } = await service.signIn('ada');
    const { text } = await service.call(`${LOGS}?operation=export`, { token });
    expect(text.split('\n')).toHaveLength(20);
  });
});
