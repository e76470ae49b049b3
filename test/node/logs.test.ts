import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { tellMeasured } from '../support/measured.ts';
import type { Answer, Caller } from './stand/caller.ts';
import { kubectl } from './stand/kubectl.ts';
import { LoggingStand } from './stand/logging-stand.ts';
import { PATIENTLY } from './stand/way.ts';
import { list, pod, shell } from './stand/workload.ts';

const LOGS = '/kapis/tenant.gatehouse.io/v1alpha2/logs';
/** The namespace of docs/logs.md whose logs the developers may read. */
const NAMESPACE = 'team-a';
const POD = 'printer';
const OF_POD = { namespaces: NAMESPACE, pods: POD };
const NOTHING = { total: 0, records: [] };
const ESCAPE = '\u001b';

const LINES = [
  'order 17 accepted',
  'order 18 accepted: "two chairs", said O\'Brien \\o/',
  'order 19 für Jürgen Größe 支付成功 🪑',
  `${ESCAPE}[31m ERROR ${ESCAPE}[0m\tpayment of order 18 declined`,
  '{"level":"warn","order":19,"text":"out of \\"stock\\""}',
  '  order 20 in three words  ',
  'the end',
];
/** A collector that finds the store busy asks it again half a minute later. */
const COLLECTED = { timeout: 180_000 };
/** The most that a page has, and many pieces of an export. */
const BURST = 10_000;

/** Prints its arguments over two seconds, so that they are in more than one, and then what it is told to. */
const PRINT = shell(
  `/bin/busybox --install -s /usr/local/bin && for line; do printf '%s\\n' "$line"; sleep 0.3; done; exec sleep 86400`,
);

type Parameters = Readonly<Record<string, string | number>>;

interface LogRecord {
  readonly log: string;
  readonly time: string;
  readonly namespace: string;
}

interface Page {
  readonly total: number;
  readonly records: readonly LogRecord[];
}

let stand: LoggingStand;
let caller: Caller;
/** The administrator may read the logs of the whole cluster, Dora those of team-a, Gustav none. */
let admin: string;
let dora: string;
let gustav: string;

beforeAll(async () => {
  stand = await LoggingStand.start('logging', NAMESPACE);
  await stand.letAdministratorRead();
  await startPrinter(LINES);
  caller = await stand.release.caller();
  admin = await stand.signIn('admin');
  dora = await stand.signIn('dora');
  gustav = await stand.signIn('gustav');
});

afterAll(async () => {
  for (const kind of ['clusterrolebinding', 'clusterrole'])
    await kubectl(['delete', kind, 'all-pod-logs', '--ignore-not-found']);
  await kubectl(['delete', 'namespace', NAMESPACE, '--ignore-not-found', '--wait=false']);
  await stand?.remove();
});

const inNamespace = (...args: readonly string[]): Promise<string> => kubectl(['-n', NAMESPACE, ...args]);

async function startPrinter(lines: readonly string[]): Promise<void> {
  await eventually(
    () => inNamespace('get', 'serviceaccount', 'default').catch(() => ''), // without it no pod is admitted
    (said) => said !== '',
  );
  const printer = pod(POD, { command: [...PRINT, 'sh', ...lines] });
  await kubectl(['-n', NAMESPACE, 'create', '-f', '-'], list(printer));
  await inNamespace('wait', '--for=condition=Ready', `pod/${POD}`, PATIENTLY);
}

/** Lets the pod print what this line of a shell prints. */
const print = (line: string): Promise<string> =>
  inNamespace('exec', POD, '--', '/bin/busybox', 'sh', '-c', `exec >/proc/1/fd/1; ${line}`);

function ask(token: string, parameters: Parameters): Promise<Answer> {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
  return caller.get(`${LOGS}?${query}`, token);
}

async function find(token: string, parameters: Parameters): Promise<Page> {
  const { status, body } = await ask(token, parameters);
  expect([status, body]).toEqual([200, { query: expect.anything() }]);
  return body.query;
}

const textsOf = ({ records }: Page): string[] => records.map(({ log }) => log);

/** What the kubelet tells that the pod has printed, as records. */
async function printed(): Promise<LogRecord[]> {
  const lines = (await inNamespace('logs', POD, '--timestamps')).trimEnd().split('\n');
  return lines.map((line) => {
    const [, time = '', log = ''] = /^(\S+) (.*)$/.exec(line) ?? [];
    return { log, time: inNanoseconds(time), namespace: NAMESPACE, pod: POD, container: 'main' };
  });
}

/** containerd leaves out zeros at the end that the kubelet writes. */
const inNanoseconds = (time: string): string =>
  time.replace(/(?:\.(\d+))?Z$/, (_, digits: string = '') => `.${digits.padEnd(9, '0')}Z`);

const asPrinted = (records: readonly LogRecord[]): LogRecord[] =>
  records.map((record) => ({ ...record, time: inNanoseconds(record.time) }));

const byTime = (one: LogRecord, other: LogRecord): number => (one.time < other.time ? -1 : 1);

const secondOf = ({ time }: { readonly time: string }): number => Math.floor(Date.parse(time) / 1000);

async function metrics(): Promise<string[]> {
  const { status } = await stand.release.pod();
  const { body } = await request(`http://${status?.podIP}:9091/metrics`, { reset: true });
  return (await body.text()).split('\n');
}

describe('lines that a pod prints', () => {
  test('are found as the kubelet tells them, in their order and against it', async () => {
    const sorted = (sort: string) => find(dora, { ...OF_POD, sort });
    await expect.poll(async () => (await sorted('asc')).total, COLLECTED).toBe(LINES.length);
    const expected = await printed();
    expect(expected).toMatchObject(LINES.map((log) => ({ log })));
    expect(asPrinted((await sorted('asc')).records)).toEqual(expected);
    expect(asPrinted((await sorted('desc')).records)).toEqual(expected.toReversed());
  });

  test('are found by the words in them', async () => {
    const found = async (words: string) => textsOf(await find(dora, { ...OF_POD, log_query: words }));
    expect(await found('ORDER 17')).toEqual([LINES[0]]);
    expect(await found('"two chairs", said O\'Brien')).toEqual([LINES[1]]);
    expect(await found('jürgen grö')).toEqual([LINES[2]]);
    expect(await found('付成')).toEqual([LINES[2]]);
    expect(await found('payment of order')).toEqual([LINES[3]]);
    expect(await found('"order":19')).toEqual([LINES[4], LINES[2]]);
    expect(await found('chairs order')).toEqual([]);
  });

  test('LT-01 are found by whole seconds, both ends included', async () => {
    const all = asPrinted((await find(dora, { ...OF_POD, sort: 'asc' })).records);
    const seconds = [...new Set(all.map(secondOf))];
    expect(seconds.length).toBeGreaterThan(1);
    for (const start of seconds) {
      for (const end of seconds.filter((second) => second >= start)) {
        const between = await find(dora, { ...OF_POD, sort: 'asc', start_time: start, end_time: end });
        const expected = all.filter((record) => secondOf(record) >= start && secondOf(record) <= end);
        expect(asPrinted(between.records)).toEqual(expected);
        expect(between.total).toBe(expected.length);
      }
    }
    expect(await find(dora, { ...OF_POD, end_time: seconds[0]! - 1 })).toEqual(NOTHING);
  });

  test('are exported as text, the newest first, without colours', async () => {
    const { status, body } = await ask(dora, { ...OF_POD, operation: 'export' });
    const texts = LINES.map((line) => line.replaceAll(`${ESCAPE}[31m`, '').replaceAll(`${ESCAPE}[0m`, ''));
    expect([status, body]).toEqual([
      200,
      texts
        .toReversed()
        .map((line) => `${line}\n`)
        .join(''),
    ]);
  });

  test('are counted', async () => {
    const { body } = await ask(dora, { ...OF_POD, operation: 'statistics' });
    expect(body).toEqual({ statistics: { containers: 1, logs: LINES.length } });
  });

  test('are found a moment later', async () => {
    for (const word of ['first', 'second', 'third']) {
      await print(`echo it is the ${word} moment`);
      const { records } = await eventually(
        () => find(dora, { ...OF_POD, log_query: `${word} moment` }),
        ({ total }) => total > 0,
      );
      expect(records).toMatchObject([{ log: `it is the ${word} moment` }]);
      tellMeasured('logging', Date.now() - Date.parse(records[0]!.time), 'from the printing to the found line');
    }
  });

  test('are all found, each once, when they come in a burst', async () => {
    await print(`seq ${BURST} | sed 's/^/burst /'`);
    const burst = { ...OF_POD, log_query: 'burst' };
    const total = async () => (await find(dora, { ...burst, size: 0 })).total;
    await expect.poll(total, COLLECTED).toBeGreaterThanOrEqual(BURST);
    const lines = Array.from({ length: BURST }, (_, i) => `burst ${i + 1}`);
    const { total: found, records } = await find(dora, { ...burst, sort: 'asc', size: BURST });
    expect(found).toBe(BURST);
    expect(
      asPrinted(records)
        .sort(byTime)
        .map(({ log }) => log),
    ).toEqual(lines);
    // The store knows milliseconds. What is of one has any order there.
    const at = new Map(records.map(({ log, time }) => [log, Date.parse(time)]));
    const { body } = await ask(dora, { ...burst, operation: 'export' });
    const exported: string[] = body.trimEnd().split('\n');
    expect(exported.toSorted()).toEqual(lines.toSorted());
    for (const told of [records.map(({ log }) => log), exported.toReversed()]) {
      const times = told.map((log) => at.get(log)!);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }
  });
});

describe('L-04 who may not read the logs of a namespace', () => {
  test('finds nothing of it, by no operation', async () => {
    for (const parameters of [{}, { namespaces: NAMESPACE }, OF_POD])
      expect(await find(gustav, parameters)).toEqual(NOTHING);
    const answers = ['statistics', 'histogram', 'export'].map(
      async (operation) => (await ask(gustav, { operation })).body,
    );
    expect(await Promise.all(answers)).toEqual([
      { statistics: { containers: 0, logs: 0 } },
      { histogram: { total: 0, histograms: [] } },
      '',
    ]);
  });

  test('is told so by the question of the page', async () => {
    const answers = [await stand.asksForRight('dora'), await stand.asksForRight('gustav')];
    expect(answers).toEqual(['yes\n', 'no\n']);
  });

  test('finds those of the namespaces that a role gives, and no others', async () => {
    const { namespace } = stand.release;
    const namespacesFor = async (token: string) => {
      const { records } = await find(token, { namespaces: `${NAMESPACE},${namespace}`, size: 10_000 });
      return [...new Set(records.map((record) => record.namespace))].sort();
    };
    // The newest of so many lines are all of the burst until a line that Gatehouse wrote after it has come to the store.
    const both = await eventually(
      () => namespacesFor(admin),
      (names) => names.includes(namespace),
    );
    expect(both).toEqual([namespace, NAMESPACE].sort());
    expect(await namespacesFor(dora)).toEqual([NAMESPACE]);
    expect(await find(dora, { namespaces: namespace })).toEqual(NOTHING);
  });
});

test('L-05 a namespace that is made again does not show the lines of its namesake', async () => {
  const ofFirst = await find(admin, { ...OF_POD, size: 0 });
  await kubectl(['delete', 'namespace', NAMESPACE]);
  await kubectl(['create', 'namespace', NAMESPACE]);
  await stand.giveRights('--namespace=');
  await startPrinter(['of another team']);
  await expect.poll(async () => (await find(dora, OF_POD)).total, COLLECTED).toBeGreaterThan(0);
  expect(textsOf(await find(dora, {}))).toEqual(['of another team']);
  expect((await ask(dora, { operation: 'export' })).body).toBe('of another team\n');
  expect((await find(admin, { ...OF_POD, size: 0 })).total).toBe(ofFirst.total + 1);
});

test('the metrics tell what the store was asked', async () => {
  const lines = await metrics();
  const count = (name: string) => Number(lines.find((line) => line.startsWith(`gatehouse_${name} `))?.split(' ')[1]);
  expect(count('log_store_request_duration_seconds_count{purpose="detect",code="2xx"}')).toBe(1);
  for (const purpose of ['search', 'scroll', 'close'])
    expect(count(`log_store_request_duration_seconds_count{purpose="${purpose}",code="2xx"}`), purpose).toBeGreaterThan(
      0,
    );
  expect(count('log_queries_total{operation="query",result="answered"}')).toBeGreaterThan(0);
});

test('L-11 without the store log queries are 503, and nodes are listed', async () => {
  await stand.stopStore();
  const { status, body } = await ask(dora, OF_POD);
  expect([status, body.message]).toEqual([503, 'the log store is not available, please try again']);
  expect((await caller.list(admin)).body).toMatchObject({ totalItems: 1 });
  expect(await caller.get('/readyz')).toMatchObject({ status: 200 });
});
