import { populateEvents } from '../../../dev/cluster/population/events.ts';
import { seededRandom } from '../../../dev/cluster/seeded-random.ts';
import { pastRecords } from '../../../dev/demo-logs.ts';
import { eventually } from '../../integration/service/stand.ts';
import { USERS } from '../../support/accounts/write-stand.ts';
import type { Tab } from '../tab.ts';
import { holds, type PageStand, passwordOf, press, type Reader, startLogs, startPage } from './page-stand.ts';
import { pastAuditRecords, pastEvents, startAuditRecords, startEvents } from './stored-documents.ts';

interface ViewUnderTest {
  readonly reader: Reader;
  readonly path: string;
  /** What it says when it is there. */
  readonly says: string;
  /** Brings it into a further state. */
  open?(tab: Tab): Promise<void>;
  /** The part that axe looks at, where one lies over others, which it then cannot judge. Default: all. */
  readonly part?: string;
}

const STOREFRONT = 'storefront-9hkbhhz9hj-bbsvw';

/** The page with everything that it can offer: logs, events and audit records of hours, users, and a sign-in of Ivy. */
export async function startFullPage(): Promise<PageStand> {
  const logStore = await startLogs();
  const [events, audit] = await Promise.all([startEvents(), startAuditRecords()]);
  const stand = await startPage({
    ...{ logStore, accounts: true },
    config: { events: { host: events.url }, auditing: { host: audit.url } },
  });
  const { cluster, service } = stand;
  populateEvents(cluster.objects, { now: Date.now() });
  const random = seededRandom(2);
  events.add(pastEvents(cluster.objects.list('pods'), random));
  audit.add(pastAuditRecords(random));
  logStore.add(pastRecords(cluster.objects.list('pods'), { now: Date.now(), random: seededRandom(1) }));
  for (const container of ['storefront', 'sidecar-1'])
    cluster.podLogs.write(`shop/${STOREFRONT}`, container, `GET / 200 of ${container}`, '\u001b[33mWARN\u001b[0m');
  await service.signInAnswer('ivy', passwordOf('ivy'));
  const { access_token: token } = await service.signIn('ada');
  const records = () => service.call(`${USERS}/ivy/loginrecords`, { token });
  await eventually(records, ({ body }) => body.items.length > 0);
  return stand;
}

/** Every view of the page in the cluster of the tests, by a name for files. Add a new view here: axe and the pictures then look at it. */
export const VIEWS: Readonly<Record<string, ViewUnderTest>> = {
  overview: { reader: 'ada', path: '/', says: '96 pods' },
  'overview-part': { reader: 'dana', path: '/', says: 'You may not list nodes.' },
  nodes: { reader: 'ada', path: '/ui/nodes', says: '12 nodes' },
  node: { reader: 'ada', path: '/ui/nodes/worker-c-3', says: '8 pods' },
  namespaces: { reader: 'ada', path: '/ui/namespaces', says: '6 namespaces' },
  namespace: { reader: 'dana', path: '/ui/namespaces/shop', says: 'What you may do here' },
  kinds: { reader: 'ada', path: '/ui/resources', says: 'Most used' },
  pods: { reader: 'ada', path: '/ui/resources/pods', says: '96 pods' },
  deployment: { reader: 'ada', path: '/ui/resources/deployments/shop/storefront', says: '3 pods' },
  pod: { reader: 'ada', path: `/ui/resources/pods/shop/${STOREFRONT}`, says: 'sidecar-1' },
  logs: { reader: 'ada', path: '/ui/logs?range=6h&namespaces=shop&log_query=WARN,failed', says: 'highest bar' },
  events: { reader: 'ada', path: '/ui/events?range=6h', says: 'highest bar' },
  audit: {
    reader: 'ada',
    path: '/ui/audit?range=6h',
    says: 'highest bar',
    open: async (tab) => {
      // A click of a mouse would scroll, and axe cannot judge what lies below the head.
      await tab.page.evaluate(`document.querySelector('.records tr:nth-child(4) .fold').click()`);
      await holds(tab, `document.querySelector('.records .whole') !== null`);
    },
  },
  'live-logs': { reader: 'ada', path: '/ui/live-logs/deployments/shop/storefront', says: '200 of sidecar-1' },
  account: { reader: 'ivy', path: '/ui/account', says: '0 failed' },
  users: { reader: 'ada', path: '/ui/users', says: 'platform-regular' },
  user: { reader: 'ada', path: '/ui/users/ivy', says: '0 failed' },
  invite: {
    reader: 'ada',
    path: '/ui/users',
    says: 'platform-regular',
    open: async (tab) => {
      await press(tab, 'Invite a user');
      await holds(tab, `document.querySelector('dialog[open]') !== null`);
    },
  },
  api: { reader: 'ada', path: '/ui/api', says: 'List nodes' },
  operation: {
    reader: 'ada',
    path: '/ui/api/listNodes',
    says: 'curl',
    open: async (tab) => {
      await press(tab, 'Send');
      await holds(tab, `document.querySelector('pre.body')?.innerText.includes('totalItems')`);
    },
  },
  custom: { reader: 'ada', path: '/ui/resources/certificates.cert-manager.io', says: 'certificates' },
  why: {
    reader: 'dana',
    path: '/ui/nodes',
    says: 'You may not list nodes.',
    open: async (tab) => {
      await tab.page.click('.notice button');
      await holds(tab, `document.querySelector('dialog[open]') !== null`);
    },
  },
  search: {
    reader: 'ada',
    path: '/ui/nodes',
    says: '12 nodes',
    part: '.top',
    open: async (tab) => {
      await tab.page.type('.top input', 'worker');
      await holds(tab, `document.querySelectorAll('[role=option]').length > 5`);
    },
  },
  'no-view': { reader: 'ada', path: '/ui/nothing', says: 'Nothing here' },
};
