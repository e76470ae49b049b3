import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type LogDocument, StoredRecord } from '../../dev/log-store/stored-record.ts';
import { startServer } from '../support/control-plane/server-process.ts';
import type { StoredDocument } from './documents/stored-document.ts';
import { STORES, type Store, type StoreName, storeJars, TOOLS } from './store-tools.ts';

/** A store in a process of its own. */
export interface RealStore {
  readonly url: string;
  /** What it answers; throws for an answer that is not good. */
  ask(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>>;
  /** Adds records to the indices of their days, so that searches find them. */
  load(documents: readonly LogDocument[]): Promise<void>;
  /** Adds documents to their indices, so that searches find them. */
  add(documents: readonly StoredDocument[]): Promise<void>;
  /** Places that searches keep open. */
  openPlaces(): Promise<number>;
  /** As a crash is. `stop` has to follow. */
  kill(): Promise<void>;
  /** Connections stay, and nothing is answered, until the function that it returns is called. */
  freeze(): () => void;
  stop(): Promise<void>;
}

/** A start takes 2 to 7 s on two quiet cores. */
const LONGEST_START_MS = 120_000;
/** Of one request: at most 8 MB of the longest of a test. */
const LOADED_AT_ONCE = 2_000;
/** Little compiling: a store lives for a minute. */
const JAVA = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
/** Enough for 100,000 records. */
const HEAP_MIB = 256;
const OLDEST_JAVA = 17;

/**
 * By default a store refuses requests by the size of its whole heap, garbage included, so whether it does depends on when the garbage was
 * collected. Elasticsearch 6 does not, and does not know the setting.
 */
const settingsOf = (name: StoreName): string => {
  const settings = readFileSync(join(TOOLS, 'settings.yml'), 'utf8');
  return name === 'elasticsearch-6' ? settings : `${settings}indices.breaker.total.use_real_memory: false\n`;
};

/** Starts an empty store on a port that the kernel gives. */
export async function startStore(name: StoreName, heapMiB = HEAP_MIB): Promise<RealStore> {
  const store: Store = STORES[name];
  await requireJava();
  const { lib, module } = await storeJars(name);
  const folder = mkdtempSync(join(tmpdir(), `gatehouse-${name}-`));
  const log = join(folder, 'log');
  const settings = join(folder, 'settings.yml');
  writeFileSync(settings, settingsOf(name));
  const program = [join(TOOLS, store.main), join(folder, 'home'), settings, module];
  const server = startServer('java', [...JAVA, `-Xmx${heapMiB}m`, '--class-path', `${lib}/*`, ...program], log);
  const stop = async (): Promise<void> => {
    await server.terminate();
    rmSync(folder, { recursive: true, force: true });
  };
  const began = performance.now();
  for (;;) {
    const text = readFileSync(log, 'utf8');
    const [, url] = /^ready (http:\S+)$/m.exec(text) ?? [];
    if (url) return { ...clientOf(url, store), kill: () => server.kill(), freeze: () => server.freeze(), stop };
    if (!server.running || performance.now() - began > LONGEST_START_MS) {
      await server.kill();
      throw new Error(`${name} does not start: ${text.slice(-4_000)}`);
    }
    await sleep(50);
  }
}

async function requireJava(): Promise<void> {
  const advice = `install Java ${OLDEST_JAVA} or later, such as Debian's openjdk-17-jre-headless`;
  const { stderr } = await promisify(execFile)('java', ['-version']).catch((cause) => {
    throw new Error(`there is no usable "java" on PATH; ${advice}`, { cause });
  });
  const [, version] = /version "(\d+)/.exec(stderr) ?? [];
  if (!(Number(version) >= OLDEST_JAVA)) throw new Error(`"java" on PATH is too old: ${stderr}; ${advice}`);
}

function clientOf(url: string, { dialect }: Store): Omit<RealStore, 'kill' | 'freeze' | 'stop'> {
  const send = async (method: string, path: string, type: string, body?: string) => {
    const content = body === undefined ? {} : { body, headers: { 'content-type': type } };
    const answer = await fetch(`${url}${path}`, { method, ...content });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const ask: RealStore['ask'] = (method, path, body) =>
    send(method, path, 'application/json', body && JSON.stringify(body));
  const add: RealStore['add'] = async (documents) => {
    for (let at = 0; at < documents.length; at += LOADED_AT_ONCE) {
      const lines = documents.slice(at, at + LOADED_AT_ONCE).flatMap(({ index, source }) => {
        const target = { _index: index, ...(dialect === '6' && { _type: 'doc' }) };
        return [{ index: target }, source].map((line) => `${JSON.stringify(line)}\n`);
      });
      const { errors, items } = await send('POST', '/_bulk', 'application/x-ndjson', lines.join(''));
      if (errors !== false) throw new Error(`the store does not take all: ${JSON.stringify(items).slice(0, 2_000)}`);
    }
    await ask('POST', '/_refresh');
  };
  return {
    url,
    ask,
    load: (records) =>
      add(records.map((source) => ({ index: `ks-logstash-log-${new StoredRecord(source).day}`, source }))),
    add,
    async openPlaces() {
      const { nodes } = (await ask('GET', '/_nodes/stats/indices/search')) as unknown as SearchStatistics;
      return Object.values(nodes).reduce((sum, { indices }) => sum + indices.search.scroll_current, 0);
    },
  };
}

interface SearchStatistics {
  readonly nodes: Readonly<
    Record<string, { readonly indices: { readonly search: { readonly scroll_current: number } } }>
  >;
}
