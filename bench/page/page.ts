import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBrowser } from '../../test/browsers/browser.ts';
import type { Bench } from '../bench.ts';
import { type Gatehouse, startGatehouse } from '../peers/gatehouse.ts';
import { WITHOUT_THROTTLE } from '../sign-in.ts';
import { type PageLoad, type PageStay, SlowTab } from './browser.ts';
import { startChangingCluster } from './cluster.ts';
import { measureOpenPages, type OpenPagesResults } from './open-pages.ts';
import { type PageSizes, pageSizes } from './sizes.ts';

/** The page of a large cluster in a browser with a slow processor, and what many open pages cost the server. */
export interface PageResults {
  readonly sizes: PageSizes;
  readonly tables: readonly TableResults[];
  readonly open: OpenPagesResults;
  /** The load average at the start and at the end. */
  readonly load: readonly [number, number];
}

/** One table of the page. */
export interface TableResults {
  readonly name: string;
  /** Each with a new profile: the sign-in, then with an empty cache, then with a full one. */
  readonly rounds: readonly LoadRound[];
  readonly stay: PageStay;
}

interface LoadRound {
  readonly signedIn: PageLoad;
  readonly cold: PageLoad;
  readonly warm: PageLoad;
}

const TABLES = [
  ['nodes', '/ui/nodes'],
  ['pods', '/ui/resources/pods'],
] as const;

const LISTED_TIMEOUT_MS = 240_000;
const LISTED_POLL_MS = 250;

const SETTINGS = { authentication: WITHOUT_THROTTLE, gateway: { enabled: true } };

export async function measurePage(bench: Bench): Promise<PageResults> {
  const sizes = pageSizes(process.env);
  const before = loadavg()[0] ?? 0;
  bench.note(
    `a cluster of ${sizes.nodes} nodes and ${sizes.pods} pods, of which ${sizes.changes} each change a second`,
  );
  const cluster = await startChangingCluster(bench.children, sizes);
  const gatehouse = await startGatehouse(bench.children, { ...cluster, name: 'page', settings: SETTINGS });
  const { browser, end } = await startBrowser('Chromium');
  const tables: TableResults[] = [];
  try {
    for (const [name, path] of TABLES) {
      await untilListed(gatehouse, name);
      const { rounds, tab } = await measureLoads(bench, { browser, gatehouse, path });
      bench.note(`${name}: ${sizes.minutes / TABLES.length} min in the tab`);
      tables.push({ name, rounds, stay: await tab.stay((sizes.minutes * 60_000) / TABLES.length) });
    }
  } finally {
    await end();
  }
  const open = await measureOpenPages(bench, gatehouse, sizes);
  await gatehouse.stop();
  await cluster.stop();
  return { sizes, tables, open, load: [before, loadavg()[0] ?? 0] };
}

/** Waits until a kind is in memory, where it is as long as somebody asks for it. Its first list is no cost of the page. */
async function untilListed({ target, listPath }: Gatehouse, plural: string): Promise<void> {
  const address = `http://127.0.0.1:${target.port}${listPath.replace(/nodes$/, plural)}?limit=1`;
  const giveUpAt = performance.now() + LISTED_TIMEOUT_MS;
  for (;;) {
    const { status } = await fetch(address, { headers: target.headers });
    if (status === 200) return;
    if (performance.now() > giveUpAt) throw new Error(`the list of ${plural} answers ${status}`);
    await sleep(LISTED_POLL_MS);
  }
}

interface Loading {
  readonly browser: Awaited<ReturnType<typeof startBrowser>>['browser'];
  readonly gatehouse: Gatehouse;
  readonly path: string;
}

/** The tab of the last round stays open at the table. */
async function measureLoads({ note, options }: Bench, { browser, gatehouse, path }: Loading) {
  const rounds: LoadRound[] = [];
  for (let round = 1; ; round++) {
    note(`round ${round}, ${path}: after a sign-in, with an empty cache, with a full one`);
    const context = await browser.createBrowserContext();
    const tab = await SlowTab.open(context, gatehouse);
    const signedIn = await tab.signIn(path);
    const cold = await tab.load(path, { cold: true });
    rounds.push({ signedIn, cold, warm: await tab.load(path, { cold: false }) });
    if (round >= options.rounds) return { rounds, tab };
    await context.close();
  }
}
