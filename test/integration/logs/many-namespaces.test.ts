import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SimulatedLogStore, startSimulatedLogStore } from '../../../dev/log-store/log-store.ts';
import type { Authorizer } from '../../../src/authorization/authorizer.ts';
import { auditKind } from '../../../src/documents/kinds/audit-kind.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createDocuments } from '../../../src/service/documents/documents.ts';
import { type AppUnderTest, startApp } from '../http/app-under-test.ts';
import { LOGS } from './logs-under-test.ts';

const AUDIT = auditKind('gatehouse', { isAsEvents: false });
const NAMES = Array.from({ length: 1_500 }, (_, at) => `ns-${String(at).padStart(4, '0')}`);
const KNOWN = new Set(NAMES);
const isYoung = (at: number): boolean => at % 5 === 0;
const START = Date.parse('2026-03-05T00:00:00Z');
const BORN = { old: Date.parse('2026-01-01T00:00:00Z'), young: Date.parse('2026-03-07T00:00:00Z') };

/** Of each namespace a record from before the birth of the young ones, and one from after it. Nobody may see those of `other`. */
const RECORDS = [...NAMES, 'other'].flatMap((name, at) =>
  (['06', '08'] as const).map((day) => ({
    log: `${name} ${day}`,
    time: new Date(Date.parse(`2026-03-${day}T00:00:00Z`) + at * 1_000).toISOString(),
    kubernetes: { namespace_name: name, pod_name: 'p', container_name: 'c', docker_id: name },
  })),
);
const MINE = RECORDS.filter(
  ({ log }, index) => !log.startsWith('other') && (log.endsWith('08') || !isYoung(Math.floor(index / 2))),
)
  .sort((a, b) => Date.parse(a.time) - Date.parse(b.time))
  .map(({ log }) => log);

/** May ask for logs, and see those of these namespaces one by one. */
const authorizer: Authorizer = {
  authorize: (_, attributes) => {
    const { resource, namespace } = 'resource' in attributes ? attributes.resource : { resource: '', namespace: '' };
    return { allowed: resource === 'logs' || KNOWN.has(namespace ?? ''), source: 'cache' };
  },
};

describe('1,500 allowed namespaces, 300 of them younger than the start', () => {
  let store: SimulatedLogStore;
  let app: AppUnderTest;
  let close: () => Promise<void>;
  beforeAll(async () => {
    store = await startSimulatedLogStore();
    store.add(RECORDS);
    const registry = new Registry();
    const lokiLabels = { namespace: 'namespace', pod: 'pod', container: 'container' };
    const logs = { host: store.url, version: undefined, indexPrefix: 'k', lokiLabels, insecureSkipTLSVerify: false };
    const others = { events: undefined, audit: undefined, areEventsLive: false, auditKind: AUDIT };
    const documents = await createDocuments(
      { logs, ...others, exportLogsLimit: 100_000 },
      {
        events: { report: () => undefined },
        kinds: undefined,
        authorizer,
        namespaces: () => NAMES.map((name, at) => ({ name, createdAt: BORN[isYoung(at) ? 'young' : 'old'] })),
        clock: systemClock,
        logger: createLogger({ level: 'info', format: 'json' }, { write: () => {} }),
        registry,
      },
    );
    close = async () => documents.close?.();
    app = await startApp({ authorizer, logs: documents.routes, registry });
  });
  afterAll(async () => {
    await app?.stop();
    await close?.();
    await store?.stop();
  });

  const ask = (parameters: Readonly<Record<string, string>>): Promise<Response> => {
    const range = { start_time: String(START / 1_000), end_time: String(START / 1_000 + 5 * 86_400) };
    return app.get(`${LOGS}?${new URLSearchParams({ ...range, ...parameters })}`);
  };
  // biome-ignore lint/suspicious/noExplicitAny: each assertion is its own check
  const bodyOf = async (answer: Response): Promise<any> => answer.json();

  test.each([
    ['asc', MINE],
    ['desc', MINE.toReversed()],
  ])('L-06 are paged by time, %s, and counted', async (sort, wanted) => {
    const { query } = await bodyOf(await ask({ sort, from: '900', size: '700' }));
    expect([query.total, MINE.length]).toEqual([2_700, 2_700]);
    expect(query.records.map(({ log }: { log: string }) => log)).toEqual(wanted.slice(900, 1_600));
  });

  test('L-06 are exported by time, and leave no scroll', async () => {
    const text = await (await ask({ operation: 'export' })).text();
    expect(text.split('\n').slice(0, -1)).toEqual(MINE.toReversed());
    await expect.poll(() => store.openScrolls()).toBe(0);
  });

  test('L-06 are added up', async () => {
    const { statistics } = await bodyOf(await ask({ operation: 'statistics' }));
    expect(statistics.logs).toBe(2_700);
    const { histogram } = await bodyOf(await ask({ operation: 'histogram', interval: '1d' }));
    expect([histogram.total, histogram.histograms.map(({ count }: { count: number }) => count)]).toEqual([
      2_700,
      [1_200, 0, 1_500],
    ]);
  });

  test('L-06 make no search of more than 1,000 clauses, with all lists full', async () => {
    const before = store.requests.length;
    const many = Array.from({ length: 64 }, (_, index) => `x${index}`).join(',');
    const lists = ['workloads', 'workload_query', 'pods', 'pod_query', 'containers', 'container_query', 'log_query'];
    const { status } = await ask(Object.fromEntries(lists.map((list) => [list, many])));
    // The first query also makes Gatehouse find out which kind of store this is, and what its indices are.
    const searches = store.requests.slice(before).filter(({ body }) => body['query'] !== undefined);
    const clauses = searches.map(({ body }) => clausesIn(body['query']));
    expect([status, clauses.length]).toEqual([200, 2]);
    expect(Math.max(...clauses)).toBeGreaterThan(500);
    expect(Math.max(...clauses)).toBeLessThanOrEqual(1_000);
  });
});

/** The clauses of a query that hold no others. */
function clausesIn(clause: unknown): number {
  if (typeof clause !== 'object' || clause === null) return 0;
  const [[type, body] = ['', {}]] = Object.entries(clause as Record<string, Record<string, unknown>>);
  if (type !== 'bool') return 1;
  return Object.values(body)
    .flat()
    .reduce<number>((all, one) => all + clausesIn(one), 0);
}
