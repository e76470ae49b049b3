import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogDocument } from '../../dev/log-store/stored-record.ts';
import { atEnd } from '../support/at-end.ts';
import { startServer } from '../support/control-plane/server-process.ts';
import { logRecords } from '../support/logs/log-records.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startStoreStand } from './store-stand.ts';

const CONFIGURATION = join(import.meta.dirname, 'rsyslog.conf');
/** Debian has it where only root's PATH looks. */
const RSYSLOGD = '/usr/sbin/rsyslogd';

test('finds the lines that a collector read from the files of a node', async () => {
  if (!existsSync(RSYSLOGD))
    throw new Error("the collector is missing: install Debian's rsyslog and rsyslog-elasticsearch");
  const stand = await startStoreStand({ name: 'opensearch-2', records: [] });
  atEnd(() => stand.stop());
  const records = logRecords().filter(({ log }) => isOneLine(log));
  collect(records, stand.store.url);

  const find = async (parameters: Readonly<Record<string, string>>): Promise<FoundPage> =>
    (JSON.parse((await stand.ask('admin', parameters)).text) as { readonly query: FoundPage }).query;
  const all = async () => (await find({ size: '0' })).total;
  await expect.poll(all, { interval: 500 }).toBe(records.length);

  const written = records.filter(({ log }) => log.includes('payment declined')).map(recordOf);
  const { records: found } = await find({ log_query: 'Payment declined', size: '5000', sort: 'asc' });
  expect(found).toEqual(written);
});

interface FoundPage {
  readonly total: number;
  readonly records: readonly { readonly time: string }[];
}

const recordOf = (one: LogDocument) => ({
  log: lineOf(one),
  time: one.time,
  namespace: one.kubernetes.namespace_name,
  pod: one.kubernetes.pod_name,
  container: one.kubernetes.container_name,
});

/** Several lines are several records for a collector, and an empty one is none. */
const isOneLine = (log: string): boolean => /^[^\n]+\n?$/.test(log);

const lineOf = ({ log }: LogDocument): string => (log.endsWith('\n') ? log : `${log}\n`);

/** Writes the records as a node has them, and starts rsyslog on the files, until the end of the test. */
function collect(records: readonly LogDocument[], url: string): void {
  const { folder, write } = temporaryFolder();
  const logs = join(folder, 'logs');
  mkdirSync(logs);
  const files = Map.groupBy(records, ({ kubernetes: { namespace_name, pod_name, container_name, docker_id } }) => {
    return `${pod_name}_${namespace_name}_${container_name ?? ''}-${docker_id}.log`;
  });
  for (const [name, lines] of files)
    writeFileSync(join(logs, name), lines.map((one) => `${one.time} stdout F ${lineOf(one)}`).join(''));
  const text = readFileSync(CONFIGURATION, 'utf8')
    .replaceAll('FOLDER', folder)
    .replaceAll('LOGS', logs)
    .replaceAll('PORT', new URL(url).port);
  const server = startServer(
    RSYSLOGD,
    ['-n', '-f', write('rsyslog.conf', text), '-i', join(folder, 'pid')],
    join(folder, 'output'),
  );
  atEnd(() => server.terminate());
}
