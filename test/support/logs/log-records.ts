import { createHash } from 'node:crypto';
import type { LogDocument } from '../../../dev/log-store/stored-record.ts';

const PAST_DAYS = ['2026-03-06', '2026-03-07', '2026-03-08'];
const FUTURE_DAY = '2036-03-07';
const DAY_MS = 86_400_000;
const A_PAST_DAY = 3_600;
const A_FUTURE_DAY = 1_179;
/** Workload names so long that the cluster cuts them in the names of pods, which have at most 63 characters. */
const LONG_50 = 'quarterly-report-generator-for-external-auditors-x';
const LONG_61 = 'nightly-reconciliation-of-card-payments-and-refunds-with-bank';

/** Namespace, pod, container, and how often it writes. The cluster has no namespace `gone` any more. */
const CONTAINERS: readonly (readonly [string, string, string, number])[] = [
  ['shop', 'cart-7d9f8c6b5-x2x9p', 'cart', 20],
  ['shop', 'cart-7d9f8c6b5-x2x9p', 'istio-proxy', 8],
  ['shop', 'cart-7d9f8c6b5-k4m8z', 'cart', 12],
  ['shop', 'cart-api-6c8b9d7f4-q7w2e', 'cart-api', 6],
  ['shop', 'cart-debug', 'shell', 1],
  ['shop', 'cart', 'cart', 1],
  ['shop', 'db-0', 'postgres', 8],
  ['shop', 'db-1', 'postgres', 4],
  ['shop', 'api.v1-7d9f8c6b5-b4c5d', 'api', 2],
  ['shop', 'apixv1-7d9f8c6b5-b4c5d', 'api', 2],
  ['shop', `${LONG_50}-7d9f8c6x2x9p`, 'report', 2],
  ['shop', `${LONG_61.slice(0, 58)}4xk2m`, 'reconcile', 2],
  ['shop-staging', 'cart-5f6d7c8b9-m2n4b', 'cart', 5],
  ['billing', 'invoice-6b7c8d9f5-z9x8c', 'invoice', 6],
  ['billing', 'invoice-6b7c8d9f5-z9x8c', 'invoice-sidecar', 2],
  ['billing', 'nightly-backup-9zc4t', 'backup', 1],
  ['kube-system', 'coredns-66bc5c9577-t5v7w', 'coredns', 4],
  ['kube-system', 'kube-proxy-8mlqd', 'kube-proxy', 3],
  ['gone', 'old-app-5d6f7c8b4-h2j4k', 'old-app', 4],
  ['team-a', 'web-75b8c9d6f4-n8p2r', 'web', 5],
  ['team-a', 'worker-0', 'worker', 2],
];

/** Records with a given text at a given time. None of their words is anywhere else. */
const MARKED: readonly (readonly [string, string, string, string, string])[] = [
  ['2026-03-07T12:00:00.000Z', 'shop', 'cart-7d9f8c6b5-x2x9p', 'cart', 'marker boundary exact second\n'],
  ['2026-03-07T12:00:00.500Z', 'shop', 'cart-7d9f8c6b5-x2x9p', 'cart', 'marker boundary half second\n'],
  ['2026-03-07T12:00:01.000Z', 'shop', 'cart-7d9f8c6b5-x2x9p', 'cart', 'marker boundary next second\n'],
  ['2026-03-06T23:59:59.999Z', 'shop', 'db-0', 'postgres', 'marker midnight before\n'],
  ['2026-03-07T00:00:00.000Z', 'shop', 'db-0', 'postgres', 'marker midnight after\n'],
  ['2026-03-07T06:00:00.101Z', 'shop', 'db-0', 'postgres', 'literal star * alone\n'],
  ['2026-03-07T06:00:00.102Z', 'shop', 'db-0', 'postgres', 'literal quote " OR 1=1 injected\n'],
  ['2026-03-07T06:00:00.103Z', 'shop', 'db-0', 'postgres', 'literal braces }} closed\n'],
  ['2026-03-07T06:00:00.104Z', 'shop', 'db-0', 'postgres', 'Größe überschritten: Wert zu groß\n'],
  ['2026-03-07T06:00:00.105Z', 'shop', 'db-0', 'postgres', '订单已创建 4711\n'],
  [
    '2026-03-07T06:00:00.106Z',
    'shop',
    'db-0',
    'postgres',
    '\u001b[31mcrimson\u001b[0m coloured text without a newline',
  ],
  ['2026-03-07T06:00:00.107Z', 'shop', 'db-0', 'postgres', 'following line after the coloured one\n'],
  ['2026-03-07T06:00:00.108Z', 'shop', 'db-0', 'postgres', 'two lines\nin one multiline record\n'],
  ['2026-03-07T06:00:00.109Z', 'shop', 'db-0', 'postgres', ''],
  ['2026-03-07T06:00:00.110Z', 'shop', 'db-0', '', 'nocontainer member is missing here\n'],
  ['2026-03-07T06:00:00.111Z', 'shop', 'db-0', 'postgres', 'phrase: disk pressure on node seven\n'],
  ['2026-03-07T06:00:00.112Z', 'shop', 'db-0', 'postgres', 'phrase: pressure on the disk of node eight\n'],
  ['2036-03-07T08:00:00.001Z', 'team-a', 'web-75b8c9d6f4-n8p2r', 'web', 'marker team young one\n'],
  ['2036-03-07T08:00:00.002Z', 'team-a', 'worker-0', 'worker', 'marker team young two\n'],
  ['2026-03-07T08:00:00.003Z', 'team-a', 'worker-0', 'worker', 'marker team old three\n'],
  ['2036-03-07T08:00:00.004Z', 'shop', 'db-0', 'postgres', 'marker team foreign four\n'],
];

type Random = (limit: number) => number;

/** The random numbers of the recorded cases, from which the text of each record follows. */
function randomNumbers(seed: number): Random {
  let state = BigInt(seed);
  return (limit) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffff_ffff_ffff_ffffn;
    return Number((state >> 33n) % BigInt(limit));
  };
}

const pick = <Element>(random: Random, list: readonly Element[]): Element => list[random(list.length)]!;

/** The message of record `n`. */
function message(random: Random, n: number): string {
  const end = n % 10 === 7 ? '' : '\n'; // some runtimes cut the newline off, some keep it
  const path = pick(random, ['/items', '/items/17', '/basket', '/checkout', '/health']);
  switch (random(12)) {
    case 0:
      return `ERROR payment declined for order ${n}: card expired${end}`;
    case 1:
      return `error: connection to db-1 lost, retrying (attempt ${1 + random(5)})${end}`;
    case 2:
      return `\u001b[33mWARN\u001b[0m cache miss for key basket:${n}${end}`;
    case 3:
      return `\u001b[1;32mINFO\u001b[0m server started in ${random(900)} ms${end}`;
    case 4:
      return `${JSON.stringify({ level: 'info', msg: 'checkpoint written', seq: n })}${end}`;
    case 5:
      return `Errors found: ${random(9)} while reading "config.yaml"${end}`;
    default:
      return `${pick(random, ['GET', 'POST', 'PUT'])} ${path} ${pick(random, [200, 200, 200, 304, 404, 500])} ${random(300)}ms request ${n}${end}`;
  }
}

type Row = readonly [at: number, namespace: string, pod: string, container: string, log: string];

/**
 * The 12,000 records of the recorded cases about logs, in the order of their times, each with a different millisecond. They are of three
 * past days, except one far in the future, which is the only one that is younger than the namespaces of a test.
 */
export function logRecords(): LogDocument[] {
  const random = randomNumbers(1);
  const wheel = CONTAINERS.flatMap(([namespace, pod, container, share]) =>
    Array.from({ length: share }, () => [namespace, pod, container] as const),
  );
  const rows: Row[] = MARKED.map(([time, ...rest]) => [Date.parse(time), ...rest]);
  let n = 0;
  const days = [...PAST_DAYS.map((day) => [day, A_PAST_DAY] as const), [FUTURE_DAY, A_FUTURE_DAY] as const];
  for (const [day, count] of days) {
    for (let i = 0; i < count; i++) {
      const at = Date.parse(day) + Math.floor((i * DAY_MS) / count) + 1 + random(23_000);
      rows.push([at, ...pick(random, wheel), message(random, ++n)]);
    }
  }
  return rows.sort(([a], [b]) => a - b).map(toDocument);
}

function toDocument([at, namespace, pod, container, log]: Row, index: number): LogDocument {
  return {
    log,
    // Nanoseconds, as runtimes write them. The milliseconds alone decide the order.
    time: new Date(at).toISOString().replace('Z', `${String((index * 7919) % 1_000_000).padStart(6, '0')}Z`),
    kubernetes: {
      namespace_name: namespace,
      pod_name: pod,
      ...(container ? { container_name: container } : {}),
      docker_id: createHash('sha256').update(`${namespace}/${pod}/${container}`).digest('hex'),
    },
  };
}
