import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from '../../support/at-end.ts';
import { startServer } from '../../support/control-plane/server-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Debian has it where only root's PATH looks. */
const RSYSLOGD = '/usr/sbin/rsyslogd';
const PAGE = join(import.meta.dirname, '../../../docs/events.md');

/** The blocks of a language in docs/events.md, in their order. */
export const blocksOf = (language: 'json' | 'conf' | 'yaml'): readonly string[] =>
  [...readFileSync(PAGE, 'utf8').matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)\\n\`\`\`$`, 'gm'))].map(
    ([, text]) => text ?? '',
  );

/** Container log files that a collector reads. */
interface CollectedFiles {
  /** Adds to a file. `text` ends with a line break. */
  append(file: string, text: string): void;
}

interface CollectorPlaces {
  /** Where it may write. */
  readonly folder: string;
  /** The address of the store, on this machine. */
  readonly url: string;
}

/** The settings of docs/events.md with other places for what it writes, and another address of the store. */
export const collectorSettings = (settings: string, { folder, url }: CollectorPlaces): string =>
  settings
    .replace('/var/spool/rsyslog', folder)
    .replace('/var/log/ks-documents.errors', join(folder, 'errors'))
    .replace('opensearch.logging', '127.0.0.1')
    .replace('"9200"', `"${new URL(url).port}"`);

/** Writes container log files, and starts rsyslog on them with the settings of docs/events.md, until the end of the test. */
export function collectBy(
  settings: string,
  files: Readonly<Record<string, readonly string[]>>,
  url: string,
): CollectedFiles {
  if (!existsSync(RSYSLOGD))
    throw new Error("the collector is missing: install Debian's rsyslog and rsyslog-elasticsearch");
  const { folder, write } = temporaryFolder();
  const logs = join(folder, 'logs');
  mkdirSync(logs);
  for (const [name, lines] of Object.entries(files))
    writeFileSync(join(logs, name), lines.map((line) => `${line}\n`).join(''));
  // Files are asked for changes, because a container may not notice them.
  const text = collectorSettings(settings, { folder, url })
    .replaceAll('/var/log/containers', logs)
    .replace('load="imfile"', 'load="imfile" mode="polling" pollingInterval="1"');
  const args = ['-n', '-f', write('rsyslog.conf', text), '-i', join(folder, 'pid')];
  const server = startServer(RSYSLOGD, args, join(folder, 'output'));
  atEnd(() => server.terminate());
  return { append: (file, text) => appendFileSync(join(logs, file), text) };
}
