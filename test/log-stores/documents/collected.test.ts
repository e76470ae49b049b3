import { afterAll, beforeAll, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { addressOf } from '../store-stand.ts';
import { auditDocuments } from './audit-documents.ts';
import { blocksOf, collectBy } from './collected.ts';
import { type DocumentStand, startDocumentStand } from './document-stand.ts';
import { AUDIT_WORDS, EVENT_WORDS } from './document-words.ts';
import { doActs, OWN_ACTS, startOwnTrail } from './own-trail.ts';

let stand: DocumentStand;

beforeAll(async () => {
  stand = await startDocumentStand('opensearch-2');
});

afterAll(() => stand?.stop());

/** 2026-04-01 and the day after. */
const DAYS = { start_time: '1775001600', end_time: '1775174399' };
const event = (name: string, times: object): object => ({
  metadata: { name, namespace: 'shop' },
  reason: 'BackOff',
  type: 'Warning',
  ...times,
});
/** Each with its times, and the latest of them. */
const EVENTS: readonly (readonly [object, string])[] = [
  [
    { involvedObject: { namespace: 'shop', name: 'a' }, lastTimestamp: null, eventTime: '2026-04-01T10:00:00.000001Z' },
    '2026-04-01T10:00:00.000001Z',
  ],
  [
    {
      regarding: { namespace: 'shop', name: 'b' },
      eventTime: '2026-04-01T10:00:00.000000Z',
      series: { lastObservedTime: '2026-04-01T11:00:00.5Z' },
    },
    '2026-04-01T11:00:00.5Z',
  ],
  [
    {
      regarding: { namespace: 'shop', name: 'c' },
      deprecatedLastTimestamp: '2026-04-01T12:00:00Z',
      eventTime: null,
      series: null,
    },
    '2026-04-01T12:00:00Z',
  ],
  [
    {
      involvedObject: { namespace: 'shop', name: 'd' },
      lastTimestamp: '2026-04-01T13:00:00Z',
      eventTime: '2026-04-01T13:00:00.5Z',
    },
    '2026-04-01T13:00:00.5Z',
  ],
];
const SENT = EVENTS.map(([times], at) => event(`e-${at}`, times));
const NO_TIME = event('e-none', { involvedObject: { namespace: 'shop', name: 'e' }, lastTimestamp: null });
const INDEX = 'ks-logstash-events-2026.04.01';

/** Gives the store the pipeline and the template of docs/events.md. */
async function prepare(): Promise<void> {
  const [pipeline, template] = blocksOf('json').map((text) => JSON.parse(text) as object);
  await stand.store.ask('PUT', '/_ingest/pipeline/ks-events-time', pipeline);
  await stand.store.ask('PUT', '/_index_template/ks-events', template);
}

const asFilled = (): object[] =>
  EVENTS.map(([times, lastTimestamp], at) => ({ ...event(`e-${at}`, times), lastTimestamp })).toReversed();

test('E-04 with the pipeline of docs/events.md a store finds events by the latest of their times', async () => {
  await stand.store.add(SENT.map((source) => ({ index: INDEX, source })));
  const before = await stand.ask(EVENT_WORDS, 'admin', { ...DAYS, size: '0' });
  expect(before.body.query.total).toBe(1); // that with `lastTimestamp`
  await stand.store.ask('DELETE', `/${INDEX}`);
  await prepare();
  await stand.store.add([...SENT, NO_TIME].map((source) => ({ index: INDEX, source })));
  const { body } = await stand.ask(EVENT_WORDS, 'admin', DAYS);
  expect(body.query).toEqual({ total: SENT.length, records: asFilled() });
  const all = await stand.ask(EVENT_WORDS, 'admin', { involved_object_name_filter: 'a,b,c,d,e', size: '0' });
  expect(all.body.query.total).toBe(SENT.length + 1);
  await stand.store.ask('DELETE', `/${INDEX}`);
});

/** `AuditID` comes first, by which the collector knows an audit record. */
const auditLine = (at: number): object => ({
  AuditID: `collected-${at}`,
  Level: 'Metadata',
  Stage: 'ResponseComplete',
  Verb: 'create',
  User: { Username: 'ada', Groups: ['admins', 'system:authenticated'] },
  SourceIPs: ['10.0.0.7'],
  ObjectRef: {
    Resource: 'users',
    Name: `user "${at}"`,
    Namespace: 'shop',
    APIGroup: 'iam.kubesphere.io',
    APIVersion: 'v1beta1',
  },
  ResponseStatus: { code: at % 2 ? 201 : 403 },
  RequestReceivedTimestamp: `2026-04-0${1 + (at % 2)}T00:00:0${at % 10}.00${at % 10}Z`,
});

test('AU-01 E-03 the collector of docs/events.md stores audit lines and events of exporters in the indices of their days', async () => {
  await prepare();
  const audit = Array.from({ length: 10 }, (_, at) => auditLine(at));
  const line = (document: object | string): string =>
    `2026-04-01T23:59:59.999999999Z stdout F ${typeof document === 'string' ? document : JSON.stringify(document)}`;
  const others = [{ level: 'info', msg: 'listening' }, 'no JSON', { level: 'info', AuditID: 'not the first member' }];
  const [settings = ''] = blocksOf('conf');
  const files = {
    'audit-exporter-0_logging_exporter-0.log': [...others, ...audit].map(line),
    'event-exporter-0_logging_exporter-0.log': [...others, ...SENT].map(line),
  };
  collectBy(settings, files, stand.store.url);
  const total = async (words: typeof EVENT_WORDS) =>
    (await stand.ask(words, 'admin', { ...DAYS, size: '0' })).body.query.total;
  await expect.poll(() => total(EVENT_WORDS), { interval: 500 }).toBe(SENT.length);
  await expect.poll(() => total(AUDIT_WORDS), { interval: 500 }).toBe(audit.length);
  expect((await stand.ask(EVENT_WORDS, 'admin', DAYS)).body.query.records).toEqual(asFilled());
  const newest = audit.toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  const { body } = await stand.ask(AUDIT_WORDS, 'admin', { ...DAYS, user_filter: 'ada', size: '20' });
  expect(body.query.records).toEqual(newest);
  const names = Object.keys(
    await stand.store.ask('GET', '/ks-logstash-auditing-2026.04.*,ks-logstash-events-2026.04.*'),
  );
  expect(names.toSorted()).toEqual(['ks-logstash-auditing-2026.04.01', 'ks-logstash-auditing-2026.04.02', INDEX]);
  expect((await stand.ask(AUDIT_WORDS, 'admin', { size: '0' })).body.query.total).toBe(
    auditDocuments().length + audit.length,
  );
});

/** Records that somebody makes by the headers of requests: first such as look like dates, then others. */
const chosen = (text: string, at: number): object => ({
  ...auditLine(at),
  UserAgent: text,
  ObjectRef: { Resource: 'nodes', Name: text },
  Annotations: { 'gatehouse.io/requestId': text, 'gatehouse.io/asUser': text },
  RequestReceivedTimestamp: `2026-05-01T00:00:0${at}.000Z`,
});

test('AU-03 with the template of docs/events.md no caller can keep the records of others out by a text like a date', async () => {
  const index = 'ks-logstash-auditing-2026.05.01';
  const add = (text: string, at: number) => stand.store.add([{ index, source: chosen(text, at) }]);
  await add('2026-05-01', 0);
  await expect(add('kubectl', 1)).rejects.toThrow('type [date]');
  await stand.store.ask('DELETE', `/${index}`);
  const [, , template = ''] = blocksOf('json');
  await stand.store.ask('PUT', '/_index_template/ks-auditing', JSON.parse(template));
  for (const [at, text] of ['2026-05-01', 'kubectl', '2026/05/01', '17'].entries()) await add(text, at);
  const day = { start_time: '1777593600', end_time: '1777679999' };
  const { body } = await stand.ask(AUDIT_WORDS, 'admin', { ...day, objectref_name_filter: 'kubectl,2026-05-01,17' });
  expect(body.query.total).toBe(3);
  await stand.store.ask('DELETE', `/${index}`);
});

test('AU-03 the collector reads no log of a pod of the same name in another namespace, and no audit record of an exporter of events', async () => {
  const [settings = ''] = blocksOf('conf');
  const made = (at: number): string =>
    `2026-05-02T00:00:00Z stdout F ${JSON.stringify({ ...auditLine(at), RequestReceivedTimestamp: `2026-05-02T00:00:0${at}Z` })}`;
  const files = {
    'gatehouse-x_shop_gatehouse-0.log': [made(1)],
    'gatehouse-x_shop_gatehouse-system-0.log': [made(2)],
    'audit-exporter-0_shop_exporter-0.log': [made(3)],
    'event-exporter-0_logging_exporter-0.log': [made(4)],
    'gatehouse-0_gatehouse-system_gatehouse-0.log': [made(5)],
  };
  const log = collectBy(settings, files, stand.store.url);
  const day = { start_time: '1777680000', end_time: '1777766399' };
  const ids = async () =>
    (await stand.ask(AUDIT_WORDS, 'admin', day)).body.query.records.map((one: { AuditID: string }) => one.AuditID);
  await expect.poll(ids, { interval: 500 }).toEqual(['collected-5']);
  // The collector looks at its files in turns, so when it has a later line it has every line of its first turn.
  log.append('gatehouse-0_gatehouse-system_gatehouse-0.log', `${made(6)}\n`);
  await expect.poll(ids, { interval: 500 }).toEqual(['collected-6', 'collected-5']);
  await stand.store.ask('DELETE', '/ks-logstash-auditing-2026.05.02');
});

test('AU-03 what Gatehouse writes about its own acts is found by what Gatehouse reads, through the collector of docs/events.md', async () => {
  const [settings = ''] = blocksOf('conf');
  const log = collectBy(settings, { 'gatehouse-0_gatehouse-system_gatehouse-0.log': [] }, stand.store.url);
  const write = (line: string): void =>
    log.append('gatehouse-0_gatehouse-system_gatehouse-0.log', `${new Date().toISOString()} stdout F ${line}`);
  const own = await startOwnTrail(write, { config: { auditing: addressOf(stand.store, 'opensearch-2') } });
  atEnd(() => own.stop());
  await doActs(own);
  const search = async (query: object): Promise<readonly object[]> => {
    const parameters = new URLSearchParams({ ...query, size: '1' });
    const { body } = await own.ask('GET', `/kapis/tenant.gatehouse.io/v1alpha2/auditing/events?${parameters}`);
    return body.query?.records ?? [];
  };
  for (const { query, record } of OWN_ACTS)
    await expect.poll(() => search(query), { interval: 500 }).toMatchObject([record]);
  // Each search is one more record, and no record is about another one.
  const isRead = ({ Annotations }: Readonly<Record<string, unknown>>): boolean =>
    (Annotations as Readonly<Record<string, string>> | undefined)?.['gatehouse.io/event'] === 'audit_read';
  const asked = await own.metric('gatehouse_security_events_total{event="audit_read"}');
  await expect.poll(() => own.gatehouse.log.filter(isRead).length).toBe(asked);
});

const timeOf = (record: object): string =>
  `${Object.entries(record).find(([name]) => name === 'RequestReceivedTimestamp')?.[1]}`;
