import { Browser } from '../../test/support/browser.ts';
import type { Bench } from '../bench.ts';
import type { OpenPage, OpenPagesReport } from '../load/open-pages.ts';
import { BENCH_USERS, type Gatehouse, withoutBearer } from '../peers/gatehouse.ts';
import type { PageSizes } from './sizes.ts';

/** The server without any open page, and with many, while the same number of objects changes. */
export interface OpenPagesResults {
  readonly without: OpenPagesReport;
  readonly open: OpenPagesReport;
}

const PLURALS = ['nodes', 'pods'] as const;
/** The page asks for so many rows at once, and reads at most once a second. */
const PAGE_ROWS = 50;
const READ_EVERY_MS = 1_000;
const RENEW_EVERY_MS = 60_000;
/** Readers have scrolled to one of so many parts of the list. */
const PARTS = 20;
const WARM_UP_MS = 10_000;
/** For each second of the option: with the usual three, every page renews its session once. */
const MEASURE_MS = 20_000;
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** Measures first without any page, then with all of them. Half of them show the nodes, the others the pods. */
export async function measureOpenPages(
  { generator, note, options }: Bench,
  gatehouse: Gatehouse,
  { open }: PageSizes,
): Promise<OpenPagesResults> {
  note(`signing ${BENCH_USERS.length} people in, and calling as ${open} open pages`);
  const cookies: string[] = [];
  for (const user of BENCH_USERS) cookies.push(await sessionOf(gatehouse, user)); // many at once would be refused
  const pages = Array.from({ length: open }, (_, index) =>
    callsOf(gatehouse, cookies[index % cookies.length] ?? '', index),
  );
  const plan = {
    ...{ target: withoutBearer(gatehouse), serverPid: gatehouse.pid, metricsUrl: gatehouse.metricsUrl },
    ...{
      readEveryMs: READ_EVERY_MS,
      renewEveryMs: RENEW_EVERY_MS,
      warmUpMs: WARM_UP_MS,
      measureMs: MEASURE_MS * options.seconds,
    },
  };
  const without = await generator.openPages({ ...plan, pages: [] });
  return { without, open: await generator.openPages({ ...plan, pages }) };
}

/** Signs in as a browser does. Resolves to the cookie of the session. */
async function sessionOf({ target, password }: Gatehouse, username: string): Promise<string> {
  const browser = new Browser();
  const form = await browser.open(new URL(`http://127.0.0.1:${target.port}/oauth/sign-in?to=%2F`));
  const { status } = await browser.submit(form, { username, password });
  const cookie = browser.cookie(SESSION);
  if (cookie === undefined) throw new Error(`the sign-in of ${username} answered ${status} without a session`);
  return `${SESSION}=${cookie}`;
}

const SESSION = 'gatehouse-session';

/** What Chromium sends with a call of the page. */
function callsOf({ target, listPath }: Gatehouse, cookie: string, index: number): OpenPage {
  const headers = {
    ...{ cookie, accept: 'application/json', 'x-gatehouse-page': '1', 'sec-fetch-site': 'same-origin' },
    ...{ 'accept-encoding': 'gzip, deflate, br, zstd' },
  };
  const path = listPath.replace(/nodes$/, PLURALS[index % PLURALS.length] ?? '');
  const part = (Math.floor(index / PLURALS.length) % PARTS) + 1;
  const watch = 'watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
  return {
    watch: { path: `${path}?${watch}`, headers: { ...headers, accept: METADATA } },
    read: { path: `${path}?limit=${PAGE_ROWS}&page=${part}`, headers },
    renew: {
      method: 'POST',
      path: '/ui/session',
      headers: { ...headers, origin: `http://127.0.0.1:${target.port}` },
      body: '',
    },
  };
}
