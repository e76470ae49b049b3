import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../support/cluster-tools.ts';
import { withLock } from '../support/file-lock.ts';
import { copyJars } from '../support/maven-jars.ts';

export const TOOLS = join(import.meta.dirname, 'tools');

/** A store of the tests: its name is the folder under `tools` with the pom.xml that pins it. */
export interface Store {
  /** Its name in `logging.version`. */
  readonly dialect: '6' | '7' | '8' | 'opensearchv1' | 'opensearchv2';
  /** The program under `tools` that runs it. */
  readonly main: string;
  /** Its network module is loaded from a folder of its own, not from the class path. */
  readonly hasModule?: true;
}

export type StoreName = keyof typeof STORES;

export const STORES = {
  'opensearch-2': { dialect: 'opensearchv2', main: 'OpenSearch.java' },
  'opensearch-1': { dialect: 'opensearchv1', main: 'OpenSearch.java' },
  'elasticsearch-8': { dialect: '8', main: 'Elasticsearch8.java', hasModule: true },
  'elasticsearch-7': { dialect: '7', main: 'Elasticsearch.java' },
  'elasticsearch-6': { dialect: '6', main: 'Elasticsearch.java' },
} as const satisfies Record<string, Store>;

export const STORE_NAMES = Object.keys(STORES) as readonly StoreName[];

/** Folders with the jars of a store. */
export interface StoreJars {
  readonly lib: string;
  /** Those of its network module, where it has one. */
  readonly module: string;
}

const MODULE_JAR = /^(?:netty-|transport-netty4-)/;

/** The jars of a store, in the cache folder of all tools, into which they are fetched first when they are missing. */
export async function storeJars(name: StoreName): Promise<StoreJars> {
  const folder = join(cacheFolder(), `${name}-${pinnedVersion(name)}`);
  // Not in the cache folder, because a lock left by a killed job must not be saved and restored with the cache.
  const lock = join(tmpdir(), `gatehouse-${name}.lock`);
  if (!existsSync(folder)) {
    await withLock(lock, async () => {
      if (!existsSync(folder)) await fetchJars(name, folder);
    });
  }
  return { lib: join(folder, 'lib'), module: join(folder, 'module') };
}

/** The store's version, and a mark of all else that the pom pins. */
function pinnedVersion(name: StoreName): string {
  const pom = readFileSync(join(TOOLS, name, 'pom.xml'), 'utf8');
  const [, version] = /<store.version>([^<]+)</.exec(pom) ?? [];
  if (!version) throw new Error(`${name}/pom.xml says no store.version`);
  return `${version}-${createHash('sha256').update(pom).digest('hex').slice(0, 8)}`;
}

async function fetchJars(name: StoreName, folder: string): Promise<void> {
  const store: Store = STORES[name];
  const unfinished = `${folder}.${process.pid}.part`; // renamed when complete: a reader never meets half of it
  const [lib, module] = [join(unfinished, 'lib'), join(unfinished, 'module')];
  const began = performance.now();
  note(`fetching ${name}, about 10 seconds the first time`);
  try {
    await mkdir(module, { recursive: true });
    await copyJars(join(TOOLS, name), lib);
    const jars = store.hasModule ? await readdir(lib) : [];
    for (const jar of jars) if (MODULE_JAR.test(jar)) await rename(join(lib, jar), join(module, jar));
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  note(`fetched ${name} in ${Math.round((performance.now() - began) / 1_000)} s`);
}

const note = (line: string): void => void process.stderr.write(`log stores: ${line}\n`);
