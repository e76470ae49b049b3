import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, HTTPRequest } from 'puppeteer-core';
import { type BuiltPage, buildPage } from '../../../dev/build/page.ts';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { populate } from '../../../dev/cluster/population/population.ts';
import { populateWorkloads } from '../../../dev/cluster/population/workload-objects.ts';
import { installedRights, VIEWER, viewing } from '../../../dev/demo-rights.ts';
import { type SimulatedLogStore, startSimulatedLogStore } from '../../../dev/log-store/log-store.ts';
import type { LogDocument } from '../../../dev/log-store/stored-record.ts';
import { eventually, type Service, startCluster, startService } from '../../integration/service/stand.ts';
import { newUser, PASSWORD, ROLE, USERS } from '../../support/accounts/write-stand.ts';
import { atEnd } from '../../support/at-end.ts';
import { hashOf } from '../../support/passwords.ts';
import { Person, type Tab } from '../tab.ts';

/** Ada may do everything, Dana may read two namespaces, Joe may do nothing. They are in the users file. */
type FileReader = 'ada' | 'dana' | 'joe';
/** Ivy is an object, where there are accounts, and keeps her own account. */
export type Reader = FileReader | 'ivy';
const DANAS: readonly string[] = ['shop', 'monitoring'];

/** The password of a reader. */
export const passwordOf = (reader: Reader): string => (reader === 'ivy' ? PASSWORD : `${reader}-canary-password`);

const GROUPS: Readonly<Record<FileReader, readonly string[]>> = { ada: ['admins'], dana: [], joe: [] };
const ROOT = resolve(import.meta.dirname, '..', '..', '..');

let built: Promise<BuiltPage> | undefined;

/** The page as the build makes it, once a process. */
const builtPage = (): Promise<BuiltPage> => {
  built ??= buildPage(ROOT);
  return built;
};

export interface PageOptions {
  /** Default: 12, with 8 pods each. */
  readonly nodes?: number;
  readonly podsPerNode?: number;
  /** Where logs are searched. Default: they are not. */
  readonly logStore?: SimulatedLogStore;
  /** Whether users are objects, too. Ivy is one then. */
  readonly accounts?: boolean;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Makes objects before Gatehouse starts. */
  fill?(cluster: SimulatedCluster): void;
}

export interface PageStand {
  readonly cluster: SimulatedCluster;
  readonly service: Service;
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
}

async function usersText(): Promise<string> {
  const users = Object.entries(GROUPS).map(async ([name, groups]) => ({
    ...{ name, groups, passwordHash: await hashOf(passwordOf(name as FileReader)) },
  }));
  return JSON.stringify({ users: await Promise.all(users) });
}

/** Gatehouse with its page, on a simulated cluster with pods and workloads. */
export async function startPage({
  nodes = 12,
  podsPerNode = 8,
  logStore,
  accounts = false,
  config = {},
  fill,
}: PageOptions = {}): Promise<PageStand> {
  const cluster = await startCluster();
  for (const { metadata } of cluster.objects.list('nodes')) cluster.objects.remove('nodes', metadata.name);
  const now = Date.now();
  populate(cluster.objects, { nodes, podsPerNode, now, detailed: true });
  populateWorkloads(cluster.objects, { now });
  const rights = accounts ? installedRights('gatehouse', (name) => readFileSync(join(ROOT, name), 'utf8')) : [];
  for (const [kind, object] of [...rights, VIEWER, ...viewing('dana', DANAS)]) cluster.objects.create(kind, object);
  fill?.(cluster);
  const service = await startService(cluster, {
    users: await usersText(),
    page: (await builtPage()).files,
    config: {
      ...{ gateway: { enabled: true }, accounts: { enabled: accounts } },
      ...(logStore && { logging: { host: logStore.url } }),
      ...config,
    },
  });
  const stand = { cluster, service, origin: service.gatehouse.origin };
  if (accounts) await addUser(stand, 'ivy');
  return stand;
}

/** A log store without records. */
export async function startLogs(): Promise<SimulatedLogStore> {
  const store = await startSimulatedLogStore();
  atEnd(() => store.stop());
  return store;
}

/** A line of a pod of the namespace `shop`, written so long ago. The pod need not be there. */
export const stored = (pod: string, log: string, agoMs = 60_000): LogDocument => ({
  log: `${log}\n`,
  time: new Date(Date.now() - agoMs).toISOString(),
  kubernetes: { namespace_name: 'shop', pod_name: pod, container_name: 'main', docker_id: pod },
});

/** Makes a user who may sign in and keep the own account. */
async function addUser({ service, origin }: PageStand, name: Reader): Promise<void> {
  const { access_token: token } = await service.signIn('ada');
  const user = newUser(name, { spec: { password: passwordOf(name) }, annotations: { [ROLE]: 'platform-regular' } });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(origin + USERS, { method: 'POST', headers, body: JSON.stringify(user) });
  if (!answer.ok) throw new Error(`${name} is not made: ${await answer.text()}`);
  const read = () => service.call(`${USERS}/${name}`, { token });
  await eventually(
    read,
    ({ body }) => body?.status?.state === 'Active' && body.metadata.annotations[ROLE] !== undefined,
  );
}

/** Opens the page at this path, signs in, and waits until the view is there. */
export async function signIn(tab: Tab, { origin }: PageStand, reader: Reader = 'ada', path = '/'): Promise<void> {
  await tab.page.goto(origin + path);
  await tab.page.waitForSelector('#password');
  await tab.submit({ username: reader, password: passwordOf(reader) });
  await tab.page.waitForSelector('nav.views');
}

/** A tab with the page in which somebody has signed in. */
export async function openPage(browser: Browser, stand: PageStand, reader: Reader = 'ada', path = '/'): Promise<Tab> {
  const tab = await (await Person.at(browser)).tab();
  await signIn(tab, stand, reader, path);
  return tab;
}

/** Keeps what the policy forbids in the documents of this tab from now on. The returned function reads what it was in the present one. */
export async function watchPolicy({ page }: Tab): Promise<() => Promise<unknown>> {
  await page.evaluateOnNewDocument(`{
    window.violations = [];
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => violations.push([effectiveDirective, blockedURI]));
  }`);
  return () => page.evaluate('violations');
}

/** Goes to another address of the page, as a click on a link of it does. */
export async function visit(tab: Tab, path: string): Promise<void> {
  await tab.page.evaluate(`(() => {
    const link = Object.assign(document.createElement('a'), { href: ${JSON.stringify(path)} });
    document.querySelector('main').append(link);
    link.click();
    link.remove();
  })()`);
}

/** Waits until this expression is true in the page. It is looked at by a timer, because a tab in the background does not draw. */
export async function holds(tab: Tab, expression: string): Promise<void> {
  await tab.page.waitForFunction(expression, { polling: 50 });
}

/** Waits until the page says this somewhere. */
export const reads = (tab: Tab, text: string): Promise<void> =>
  holds(tab, `document.body.innerText.includes(${JSON.stringify(text)})`);

/** Waits until the tab shows the sign-in page. A wait for a selector would fail if another page came in between. */
export const asksForPassword = (tab: Tab): Promise<void> =>
  holds(tab, `document.querySelector('input#password') !== null`);

/** The part in which somebody can do something: a dialog if one is open, else what the selector names. */
const within = (part: string): string => `(document.querySelector('dialog') ?? document.querySelector('${part}'))`;

/** Clicks the button, link or label that says exactly this, once it is there and can be clicked. */
export async function press(tab: Tab, words: string, part = 'body'): Promise<void> {
  const found = `[...(${within(part)}?.querySelectorAll('button, a, summary, label') ?? [])]
    .find((one) => one.innerText.trim() === ${JSON.stringify(words)} && !one.disabled && one.checkVisibility())`;
  await holds(tab, `${found} !== undefined`);
  await tab.page.evaluate(`${found}.click()`);
}

/** Types into the field whose label begins so, over what is there. */
export async function fillIn(tab: Tab, label: string, text: string): Promise<void> {
  const found = `[...${within('main')}.querySelectorAll('label')]
    .find((one) => one.innerText.trim().startsWith(${JSON.stringify(label)}))?.control`;
  await holds(tab, `${found}?.checkVisibility() === true`);
  await tab.page.bringToFront();
  await tab.page.evaluate(`${found}.focus(), ${found}.select?.()`);
  await tab.page.keyboard.type(text);
}

/** What the rows of the table say, from the top; only those on and near the screen are there. */
export const rowsOf = async (tab: Tab): Promise<string[]> =>
  (await tab.page.evaluate(
    `[...document.querySelectorAll('[role=row][data-place]')].sort((a, b) => a.dataset.place - b.dataset.place).map((row) => row.innerText.replaceAll('\\n', ' '))`,
  )) as string[];

/**
 * Answers the calls whose address contains this with the status instead of the server, until the returned function is called. `hang`: they
 * get no answer at all.
 */
export async function refuse(tab: Tab, part: string, status: number | 'abort' | 'hang'): Promise<() => Promise<void>> {
  const { page } = tab;
  await page.setRequestInterception(true);
  const listener = (request: HTTPRequest): void => {
    if (!request.url().includes(part)) return void request.continue();
    if (status === 'hang') return;
    if (status === 'abort') return void request.abort();
    const body = JSON.stringify({
      kind: 'Status',
      reason: 'ServiceUnavailable',
      message: 'made-up refusal',
      code: status,
    });
    return void request.respond({ status, contentType: 'application/json', body });
  };
  page.on('request', listener);
  return async () => {
    page.off('request', listener);
    await page.setRequestInterception(false);
  };
}
