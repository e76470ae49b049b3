import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningBrowser, startBrowser } from '../browser.ts';
import type { Tab } from '../tab.ts';
import {
  fillIn,
  holds,
  openPage,
  type PageStand,
  press,
  reads,
  refuse,
  startPage,
  visit,
  watchPolicy,
} from './page-stand.ts';
import { auditOf, eventOf, startAuditRecords, startEvents } from './stored-documents.ts';

/** A pod of the cluster. */
const POD = 'storefront-9hkbhhz9hj-bbsvw';

const HTML = `<img src=x onerror="window.owned=1">`;
const HOSTILE = `${HTML}\u001b[31m\u202e`;
const SHOWN = `${HTML}^[[31m<U+202E>`;

/** The page with a store of events that has these. */
async function startWithEvents(...events: readonly object[]): Promise<PageStand> {
  const store = await startEvents();
  store.add(events);
  return startPage({ config: { events: { host: store.url } } });
}

/** The page with a store of audit records that has these. */
async function startWithAudit(...records: readonly object[]): Promise<PageStand> {
  const store = await startAuditRecords();
  store.add(records);
  return startPage({ config: { auditing: { host: store.url } } });
}

/** The rows of the table, each as the texts of its cells without the time. */
const ROWS = `[...document.querySelectorAll('.records tbody tr:not(.whole)')]
  .map((row) => [...row.cells].slice(1).map((cell) => cell.innerText.replaceAll(/\\s+/g, ' ').trim()).join(' | '))`;

const shows = (tab: Tab, ...rows: readonly string[]): Promise<void> =>
  holds(tab, `JSON.stringify(${ROWS}) === ${JSON.stringify(JSON.stringify(rows))}`);

const query = async (tab: Tab): Promise<unknown> => tab.page.evaluate('location.search');

/** Clicks the link of the table that says exactly this. */
const narrow = (tab: Tab, words: string): Promise<void> => press(tab, words, '.records');

/** Takes the only filter away that a link has chosen, which is called so. */
async function takeAway(tab: Tab, words: string): Promise<void> {
  await holds(tab, `document.querySelector('.chosen')?.innerText.startsWith('${words}')`);
  await tab.page.click('.chosen button');
}

/** Nothing of a record became markup or was run. */
async function expectHarmless(tab: Tab): Promise<void> {
  expect(await tab.page.evaluate('window.owned')).toBeUndefined();
  expect(await tab.page.evaluate(`document.querySelectorAll('main img, main script').length`)).toBe(0);
  expect(tab.complaints).toEqual([]);
}

describe('the search of events on the page', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  test('W-25 finds events of both forms, with a link to their object, and opens the whole of one', async () => {
    const newer = {
      ...{ involvedObject: undefined, message: undefined, count: undefined },
      ...{ regarding: { apiVersion: 'v1', kind: 'Node', name: 'worker-a-1' }, note: 'Free the disk' },
      ...{ type: 'Warning', reason: 'DiskPressure', series: { count: 1_200 }, agoMs: 120_000 },
    };
    const stand = await startWithEvents(eventOf(POD), eventOf('x', newer));
    const tab = await openPage(running.browser, stand, 'ada', '/ui/events');
    await shows(
      tab,
      `Normal | Pod shop/${POD} | Pulled | Container image already present | 1`,
      'Warning | Node worker-a-1 | DiskPressure | Free the disk | 1,200',
    );
    await reads(tab, '2 records about 1 object');
    expect(await tab.text()).not.toContain('the cluster still has');
    await tab.page.focus('.records tr:nth-child(2) .fold');
    await tab.page.keyboard.press('Enter');
    await reads(tab, 'note: Free the disk');
    expect(await tab.page.evaluate('document.activeElement.ariaExpanded')).toBe('true');
    await tab.page.keyboard.press('Enter');
    await holds(tab, `document.querySelector('.whole') === null`);
    await press(tab, 'worker-a-1', '.records');
    await holds(tab, `location.pathname === '/ui/nodes/worker-a-1'`);
    await tab.back();
    await press(tab, POD, '.records');
    await holds(tab, `location.pathname === '/ui/resources/pods/shop/${POD}'`);
    expect(tab.complaints).toEqual([]);
  });

  test('W-25 is narrowed by what is typed, chosen and clicked, and its address is all of it', async () => {
    const stand = await startWithEvents(
      eventOf('web-1'),
      eventOf('web-1', { type: 'Warning', reason: 'BackOff', message: 'Back-off pulling image', agoMs: 120_000 }),
      eventOf('web-2', { type: 'Warning', reason: 'Failed', message: 'Error: denied', agoMs: 2_400_000 }),
      eventOf('web-3', { type: 'Warning', reason: 'Failed', message: 'Error: too old', agoMs: 7_200_000 }),
    );
    const BACK_OFF = 'Warning | Pod shop/web-1 | BackOff | Back-off pulling image | 1';
    const tab = await openPage(running.browser, stand, 'ada', '/ui/events');
    await reads(tab, '3 records');
    await tab.page.select('.filters select', 'Warning');
    await reads(tab, '2 records');
    await fillIn(tab, 'Message', 'pulling');
    await shows(tab, BACK_OFF);
    expect(await tab.page.evaluate(`document.querySelector('.records mark').innerText`)).toBe('pulling');
    expect(await query(tab)).toBe('?type=Warning&message=pulling');
    await tab.page.reload();
    await shows(tab, BACK_OFF);
    await visit(tab, '/ui/events?sort=asc');
    await holds(tab, `${ROWS}[0]?.includes('web-2')`);
    await narrow(tab, 'BackOff');
    await shows(tab, BACK_OFF);
    expect(await query(tab)).toBe('?sort=asc&reason=BackOff');
    await visit(tab, '/ui/events?kind=Node');
    await reads(tab, 'No record matches.');
    await reads(tab, 'in which you may list events');
    await visit(tab, '/ui/events?kind=Pod&name=web&namespace=SHO&names=web-2');
    await shows(tab, 'Warning | Pod shop/web-2 | Failed | Error: denied | 1');
    await takeAway(tab, 'name web-2');
    await reads(tab, '3 records');
    expect(tab.complaints).toEqual([]);
  });

  test('W-25 a bar of the histogram narrows the time, and a long result comes in pages', async () => {
    const many = Array.from({ length: 250 }, (_, place) => eventOf(`web-${place}`, { agoMs: 60_000 + place }));
    const stand = await startWithEvents(...many, eventOf('long-ago', { agoMs: 2_700_000 }));
    const tab = await openPage(running.browser, stand, 'ada', '/ui/events');
    await reads(tab, '251 records');
    await holds(tab, `${ROWS}.length === 200`);
    await press(tab, 'Show more');
    await holds(tab, `${ROWS}.length === 251`);
    await reads(tab, 'These are all.');
    const bar = `[...document.querySelectorAll('.histogram g')].find((one) => /: 1 record$/.test(one.ariaLabel))`;
    await holds(tab, `${bar} !== undefined`);
    await tab.page.evaluate(`${bar}.focus()`);
    await tab.page.keyboard.press('Enter');
    await shows(tab, 'Normal | Pod shop/long-ago | Pulled | Container image already present | 1');
    expect(await query(tab)).toMatch(/^\?since=.*Z&until=.*Z$/);
    expect(tab.complaints).toEqual([]);
  });

  test('W-25 says that it has only what the cluster still has, and is a click away from an object', async () => {
    const stand = await startPage({ config: { events: { live: true } } });
    const { objects } = stand.cluster;
    objects.create('events', eventOf(POD, { reason: 'Killing' }));
    const node = { kind: 'Node', apiVersion: 'v1', name: 'worker-a-1' };
    objects.create('events', eventOf('node', { involvedObject: node, reason: 'Rebooted' }));
    const tab = await openPage(running.browser, stand, 'ada', '/ui/events');
    await reads(tab, 'These are the events that the cluster still has, usually those of the last hour.');
    await reads(tab, '2 records');
    await visit(tab, `/ui/resources/pods/shop/${POD}`);
    await press(tab, 'Search events');
    await shows(tab, `Normal | Pod shop/${POD} | Killing | Container image already present | 1`);
    expect(await query(tab)).toBe(`?range=24h&namespaces=shop&kind=Pod&names=${POD}`);
    await visit(tab, '/ui/nodes/worker-a-1');
    await press(tab, 'Search events');
    await shows(tab, 'Normal | Node worker-a-1 | Rebooted | Container image already present | 1');
    expect(await query(tab)).toBe('?range=24h&kind=Node&names=worker-a-1');
    expect(tab.complaints).toEqual([]);
  });

  test('W-25 is led to from an object without a gateway, and from the overview where there are more warnings', async () => {
    const without = await startPage({ config: { gateway: { enabled: false }, events: { live: true } } });
    const alone = await openPage(running.browser, without, 'ada', `/ui/resources/pods/shop/${POD}`);
    await reads(alone, 'Search events');
    expect(await alone.text()).not.toContain('The cluster has no events about it.');
    const stand = await startPage({ config: { events: { live: true } } });
    for (let place = 0; place < 12; place++)
      stand.cluster.objects.create('events', eventOf(`web-${place}`, { type: 'Warning' }));
    const tab = await openPage(running.browser, stand, 'ada');
    await press(tab, '2 more', '.card.wide');
    await reads(tab, '12 records');
    expect(await query(tab)).toBe('?range=1h&type=Warning');
    expect([...alone.complaints, ...tab.complaints]).toEqual([]);
  });

  test('W-25 W-26 are not offered where the server has neither', async () => {
    const tab = await openPage(running.browser, await startPage(), 'ada', `/ui/resources/pods/shop/${POD}`);
    await reads(tab, 'The cluster has no events about it.');
    const links = `[...document.querySelectorAll('a')].filter(({ pathname }) => /^.ui.(events|audit)$/.test(pathname))`;
    expect(await tab.page.evaluate(`${links}.length`)).toBe(0);
    await visit(tab, '/ui/audit');
    await reads(tab, 'This server is not set up for this view.');
  });

  test('W-17 what events say is text', async () => {
    const about = { apiVersion: 'v1', kind: HOSTILE, namespace: HOSTILE, name: HOSTILE };
    const said = { involvedObject: about, type: HOSTILE, reason: HOSTILE, message: HOSTILE };
    const stand = await startWithEvents(eventOf('x', said));
    const tab = await openPage(running.browser, stand, 'ada');
    const violations = await watchPolicy(tab);
    await tab.page.goto(`${stand.origin}/ui/events`);
    await shows(tab, `${SHOWN} | ${SHOWN} ${SHOWN}/${SHOWN} | ${SHOWN} | ${SHOWN} | 1`);
    await tab.page.click('.records .fold');
    await holds(tab, `document.querySelector('.whole') !== null`);
    await expectHarmless(tab);
    expect(await violations()).toEqual([]);
  });

  test('W-13 W-19 says in words why nothing comes', async () => {
    const stand = await startWithEvents(eventOf('web-1'));
    const tab = await openPage(running.browser, stand, 'joe', '/ui/events');
    await reads(tab, 'You may not list events.');
    await press(tab, 'Why?');
    await reads(tab, 'metadata: {name: list-events.tenant.gatehouse.io}');
    const other = await openPage(running.browser, stand, 'ada');
    const answerAgain = await refuse(other, '/v1alpha2/events', 503);
    await visit(other, '/ui/events');
    await reads(other, 'The server cannot answer that now.');
    await answerAgain();
    await reads(other, '1 record');
  });
});

describe('the search of audit records on the page', () => {
  let running: RunningBrowser;
  beforeAll(async () => {
    running = await startBrowser('Chromium');
  });
  afterAll(() => running.end());

  const DELETED = 'ada | delete | pods shop/web-1 | 200 | 10.1.2.3';
  const REFUSED = {
    ...{ User: { username: 'dana' }, ImpersonatedUser: { username: 'ivy' }, Verb: 'get' },
    ObjectRef: { resource: 'secrets', namespace: 'monitoring', name: 'key', subresource: 'x' },
    ...{ ResponseStatus: { code: 403, status: 'Failure' }, SourceIPs: ['192.0.2.7', '10.9.9.9'], agoMs: 120_000 },
  };

  test('W-26 shows who did what and from where, in either spelling, and opens the whole of it', async () => {
    const other = { ObjectRef: undefined, RequestURI: '/version', ResponseStatus: undefined, agoMs: 180_000 };
    const stand = await startWithAudit(auditOf(), auditOf(REFUSED), auditOf(other));
    const tab = await openPage(running.browser, stand, 'ada', '/ui/audit');
    await shows(
      tab,
      DELETED,
      'dana as ivy | get | secrets/x monitoring/key | 403 | 192.0.2.7 10.9.9.9',
      'ada | delete | /version | – | 10.1.2.3',
    );
    await reads(tab, '3 records');
    await reads(tab, 'highest bar');
    expect(stand.service.gatehouse.log.filter(({ event }) => event === 'audit_read')).toHaveLength(2);
    expect(await tab.page.evaluate(`document.querySelectorAll('.records .answer .state.warn svg').length`)).toBe(1);
    await tab.page.click('.records tr:nth-child(2) .fold');
    await reads(tab, 'username: dana');
    await holds(tab, `document.querySelectorAll('.whole').length === 1`);
    expect(tab.complaints).toEqual([]);
  });

  test('W-26 is narrowed by what is typed, chosen and clicked, and its address is all of it', async () => {
    const failed = { Verb: 'patch', ResponseStatus: { code: 500 }, agoMs: 240_000 };
    const stand = await startWithAudit(auditOf(), auditOf(REFUSED), auditOf(failed));
    const FOUND = 'dana as ivy | get | secrets/x monitoring/key | 403 | 192.0.2.7 10.9.9.9';
    const tab = await openPage(running.browser, stand, 'ada', '/ui/audit');
    await reads(tab, '3 records');
    await narrow(tab, 'dana');
    await shows(tab, FOUND);
    expect(await query(tab)).toBe('?users=dana');
    await takeAway(tab, 'user dana');
    await reads(tab, '3 records');
    for (const [label, text, parameter] of [
      ['User', 'an', 'user=an'],
      ['Resource', 'secr', 'resource=secr'],
      ['Name', 'ke', 'name=ke'],
      ['Namespace', 'MON', 'namespace=MON'],
      ['Source address', '9.9.9', 'source=9.9.9'],
      ['Status', '401, 403', 'code=401%2C+403'],
    ] as const) {
      await visit(tab, '/ui/audit');
      await reads(tab, '3 records');
      await fillIn(tab, label, text);
      await shows(tab, FOUND);
      expect(await query(tab)).toBe(`?${parameter}`);
    }
    await visit(tab, '/ui/audit');
    await reads(tab, '3 records');
    await tab.page.select('.filters select', 'create,update,patch,delete,deletecollection');
    await shows(tab, DELETED, 'ada | patch | pods shop/web-1 | 500 | 10.1.2.3');
    await visit(tab, '/ui/audit?verb=get,approve');
    await shows(tab, FOUND);
    expect(await tab.page.evaluate(`document.querySelector('.filters select').value`)).toBe('get,approve');
    await visit(tab, '/ui/audit?user=d&code=403');
    await reads(tab, 'Used from two characters on: User.');
    await shows(tab, FOUND);
    await visit(tab, '/ui/audit?code=4xx');
    await reads(tab, '"4xx" is not a whole number');
    expect(tab.complaints).toEqual([]);
  });

  test('W-17 what audit records say is text', async () => {
    const stand = await startWithAudit(
      auditOf({
        ...{ User: { username: HOSTILE }, ImpersonatedUser: { username: HOSTILE }, Verb: HOSTILE },
        ObjectRef: { resource: HOSTILE, namespace: HOSTILE, name: HOSTILE },
        ...{ ResponseStatus: { status: HOSTILE }, SourceIPs: [HOSTILE] },
      }),
    );
    const tab = await openPage(running.browser, stand, 'ada', '/ui/audit');
    await shows(tab, `${SHOWN} as ${SHOWN} | ${SHOWN} | ${SHOWN} ${SHOWN}/${SHOWN} | ${SHOWN} | ${SHOWN}`);
    await tab.page.click('.records .fold');
    await holds(tab, `document.querySelector('.whole') !== null`);
    await expectHarmless(tab);
  });

  test('W-19 says which right is missing', async () => {
    const stand = await startWithAudit(auditOf());
    const tab = await openPage(running.browser, stand, 'joe', '/ui/audit');
    await reads(tab, 'You may not list auditevents.');
    await press(tab, 'Why?');
    await reads(tab, 'resources: ["auditevents"]');
    expect(await tab.text()).not.toContain('web-1');
  });
});
