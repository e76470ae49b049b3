import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewObject } from '../../../dev/cluster/kube-object.ts';
import { atEnd } from '../../support/at-end.ts';
import { OBSERVED_CONFIG } from '../../support/observed/people.ts';
import type { Rights } from '../log-oracle.ts';
import { READERS, readerBinding } from '../log-readers.ts';
import { STORE_NAMES } from '../store-tools.ts';
import { auditDocuments } from './audit-documents.ts';
import { blocksOf } from './collected.ts';
import { type DocumentStand, existingNamespaces, startDocumentStand } from './document-stand.ts';
import { AUDIT_WORDS, type Comparison, type DocumentWords, EVENT_WORDS } from './document-words.ts';
import { DAY_WITHOUT_TIME, eventDocuments } from './event-documents.ts';
import { doActs, OWN_ACTS, startOwnTrail } from './own-trail.ts';
import { type StoredDocument, valuesAt } from './stored-document.ts';

const EVENTS = eventDocuments();
const RECORDS = auditDocuments();
const TENANT = `tenant.${OBSERVED_CONFIG.platform}.io`;
const ALL = { size: '5000' };
const ANY_TIME = { start_time: '0' };
/** 2026-03-07, the whole day. */
const A_DAY = { start_time: '1772841600', end_time: '1772927999' };

/** The first value in one of the places. */
const textIn = ({ source }: StoredDocument, places: string): string =>
  `${places.split(' ').flatMap((place) => valuesAt(source, place))[0] ?? ''}`;

/** The documents that somebody may see, the newest first; those without a time come last. */
function readable(documents: readonly StoredDocument[], words: DocumentWords, rights: Rights): object[] {
  const existing = existingNamespaces();
  const at = (one: StoredDocument): number => Date.parse(textIn(one, words.time)) || 0;
  const isReadable = (one: StoredDocument): boolean => {
    const namespace = textIn(one, words.namespace);
    if (rights === 'everything') return true;
    return rights.includes(namespace) && at(one) >= (existing[namespace]?.createdAt ?? Number.POSITIVE_INFINITY);
  };
  const found = documents.filter(isReadable).sort((a, b) => at(b) - at(a));
  return found.map(({ source }) => source);
}

/** Beginnings of words of the documents, and others. */
const BEGINNINGS = [...'abcdefghijklmnopqrstuvwxyz0123456789', ...'abcdefghijklmnopqrstuvwxyz12'].map((one, at) =>
  at < 36 ? one : `${one}${one}`,
);
const LONGEST: Readonly<Record<Comparison, readonly string[]>> = {
  exact: BEGINNINGS,
  phrase: BEGINNINGS,
  number: BEGINNINGS.map((_, at) => `${at}`),
  part: ['co', 'aa', 'bb', 'cc', 'dd', 'ee', 'ff', 'gg'],
};
/** 260 more namespaces, and Una's right in them. */
const MANY: readonly NewObject[] = Array.from({ length: 260 }, (_, at) => `many-${at}`).flatMap((name) => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name, creationTimestamp: '2026-03-06T12:00:00Z' } },
  readerBinding('una', 'reads', name),
]);

describe.each(STORE_NAMES)('%s', (name) => {
  let stand: DocumentStand;

  beforeAll(async () => {
    stand = await startDocumentStand(name);
  });

  afterAll(() => stand?.stop());

  const found = async (words: DocumentWords, parameters: Readonly<Record<string, string>>, who = 'admin') => {
    const { status, body } = await stand.ask(words, who, parameters);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body.query as { readonly total: number; readonly records: readonly object[] };
  };
  const totals = async (words: DocumentWords, name: string, values: readonly string[]): Promise<number[]> =>
    Promise.all(values.map(async (value) => (await found(words, { [name]: value, size: '0' })).total));
  /** How many of the documents have a value like this in one of the places. */
  const having = (documents: readonly StoredDocument[], places: string, isLike: (value: string) => boolean): number =>
    documents.filter((one) =>
      places.split(' ').some((place) => valuesAt(one.source, place).some((value) => isLike(`${value}`))),
    ).length;

  test.each(Object.entries(READERS))(
    'E-01 shows %s the events of the own namespaces, from their beginning on',
    async (who, rights) => {
      const { total, records } = await found(EVENT_WORDS, { ...ALL, ...ANY_TIME }, who);
      const expected = readable(EVENTS, EVENT_WORDS, rights).filter((one) => valuesAt(one, 'lastTimestamp').length > 0);
      expect([total, records]).toEqual([expected.length, expected]);
    },
  );

  test('E-01 shows events without a namespace, and those of namespaces that are gone, in queries without a namespace', async () => {
    const isHidden = (namespace: string): boolean => namespace === '' || namespace === 'gone';
    const hidden = EVENTS.filter((one) => isHidden(textIn(one, EVENT_WORDS.namespace))).length;
    expect(hidden).toBeGreaterThan(50);
    const { namespaces, namespaceParts, workspaces } = EVENT_WORDS.scope;
    const every = [...Object.keys(existingNamespaces())].join(',');
    expect(await totals(EVENT_WORDS, namespaces, ['', every, 'gone'])).toEqual([
      EVENTS.length,
      EVENTS.length - hidden,
      0,
    ]);
    expect(await totals(EVENT_WORDS, namespaceParts, ['on'])).toEqual([0]);
    const retail = having(EVENTS, EVENT_WORDS.namespace, (value) => value.startsWith('shop'));
    expect(await totals(EVENT_WORDS, workspaces, ['retail', 'none'])).toEqual([retail, 0]);
  });

  test('E-03 finds events in the indices of the days and of the prefix', async () => {
    const other = 'ks-whizard-events';
    const one = EVENTS.find((event) => textIn(event, 'lastTimestamp').startsWith('2026-03-07'));
    await stand.store.add([
      { index: `${other}-2026.03.07`, source: one?.source ?? {} },
      { index: 'ks-logstash-events-1999.01.01', source: one?.source ?? {} },
    ]);
    atEnd(() => stand.store.ask('DELETE', `/${other}-2026.03.07,ks-logstash-events-1999.01.01`));
    const ofDay = EVENTS.filter((event) => textIn(event, 'lastTimestamp').startsWith('2026-03-07')).length;
    expect((await found(EVENT_WORDS, A_DAY)).total).toBe(ofDay);
    expect((await found(EVENT_WORDS, {})).total).toBe(EVENTS.length + 1);
    const whizard = await stand.another({ events: { indexPrefix: other } });
    atEnd(() => whizard.stop());
    const { body } = await whizard.ask(EVENT_WORDS, 'admin', A_DAY);
    expect(body).toEqual({ query: { total: 1, records: [one?.source] } });
    // 2026-01-01, a day without an index
    expect((await found(EVENT_WORDS, { start_time: '1767225600', end_time: '1767311999' })).total).toBe(0);
  });

  test('E-04 finds events of both forms by each parameter', async () => {
    const forms = { v1: 'involvedObject', newer: 'regarding' };
    const { records } = await found(EVENT_WORDS, {
      ...ALL,
      involved_object_name_filter: 'cart-7d9f8c6b5-x2x9p',
      involved_object_name_search: 'CART 7d9',
      involved_object_kind_filter: 'pod',
      message_search: 'back-off restarting failed cont',
      reason_filter: 'backoff',
      reason_search: 'ackO',
      type_filter: 'warning',
    });
    const counts = Object.values(forms).map((form) => records.filter((one) => form in one).length);
    const expected = Object.values(forms).map(
      (form) =>
        EVENTS.filter(
          (one) => textIn(one, `${form}.name`) === 'cart-7d9f8c6b5-x2x9p' && textIn(one, 'reason') === 'BackOff',
        ).length,
    );
    expect(counts).toEqual(expected);
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });

  test('E-04 finds events without `lastTimestamp` in a query without a time only, and puts them behind all others', async () => {
    const { total, records } = await found(EVENT_WORDS, { ...ALL, sort: 'asc' });
    const timed = EVENTS.filter(({ source }) => valuesAt(source, 'lastTimestamp').length > 0);
    expect(total).toBe(EVENTS.length);
    expect(records.slice(0, timed.length)).toEqual(readable(timed, EVENT_WORDS, 'everything').toReversed());
    expect((await found(EVENT_WORDS, ANY_TIME)).total).toBe(timed.length);
    // The index of this day has no mapping of `lastTimestamp`.
    const day = Date.parse(DAY_WITHOUT_TIME) / 1_000;
    const ofDay = { start_time: `${day}`, end_time: `${day + 86_399}` };
    expect(await found(EVENT_WORDS, ofDay)).toEqual({ total: 0, records: [] });
    const { body } = await stand.ask(EVENT_WORDS, 'admin', { ...ofDay, operation: 'histogram', interval: '1h' });
    expect(body).toEqual({ histogram: { total: 0, buckets: [] } });
  });

  if (name !== 'elasticsearch-6')
    test('E-04 AU-03 takes the index templates of docs/events.md', async () => {
      for (const [at, template] of blocksOf('json').slice(1).entries()) {
        await stand.store.ask('PUT', `/_index_template/ks-${at}`, JSON.parse(template));
        await stand.store.ask('DELETE', `/_index_template/ks-${at}`);
      }
    });

  test('counts an object for each form of its events', async () => {
    const { body } = await stand.ask(EVENT_WORDS, 'admin', { operation: 'statistics' });
    const ids = (place: string): number => new Set(EVENTS.flatMap(({ source }) => valuesAt(source, place))).size;
    expect(body.statistics).toEqual({
      resources: ids('involvedObject.uid') + ids('regarding.uid'),
      events: EVENTS.length,
    });
    const { body: audit } = await stand.ask(AUDIT_WORDS, 'admin', { operation: 'statistics' });
    const different = new Set(RECORDS.map((one) => textIn(one, 'AuditID'))).size;
    expect(audit.statistics).toEqual({ resources: different, events: RECORDS.length });
    expect(different).toBeLessThan(RECORDS.length);
  });

  const withRights = Object.entries(READERS).filter(([, rights]) => rights.length > 0);
  test.each(withRights)('AU-01 shows %s the audit records of the own namespaces', async (who, rights) => {
    const { total, records } = await found(AUDIT_WORDS, ALL, who);
    const expected = readable(RECORDS, AUDIT_WORDS, rights);
    expect([total, records]).toEqual([expected.length, expected]);
  });

  test('AU-01 refuses somebody who may read audit records nowhere', async () => {
    expect(await stand.ask(AUDIT_WORDS, 'olga', ALL)).toMatchObject({ status: 403 });
  });

  test('AU-01 shows them by the right to events with `auditing.rightOfEvents` only', async () => {
    const eventsOnly = {
      asks: { apiGroups: [TENANT], resources: ['events'], verbs: ['list'] },
      reads: { apiGroups: [''], resources: ['events'], verbs: ['list'] },
    };
    for (const rightOfEvents of [true, false]) {
      const searches = await stand.another({ auditing: { rightOfEvents }, rules: eventsOnly });
      atEnd(() => searches.stop());
      const { status, body } = await searches.ask(AUDIT_WORDS, 'una', ALL);
      const expected = rightOfEvents ? [200, readable(RECORDS, AUDIT_WORDS, ['shop'])] : [403, undefined];
      expect([status, body.query?.records]).toEqual(expected);
    }
  });

  test('AU-01 finds records by members of either spelling, by texts alone and in lists, and by numbers', async () => {
    const { conditions } = AUDIT_WORDS;
    const users = ['ada', 'Größe', 'ADA'];
    const placesOf = (parameter: string): string => conditions[parameter]?.[1] ?? '';
    const expected = (
      parameter: string,
      values: readonly string[],
      isLike: (value: string, asked: string) => boolean,
    ) => values.map((asked) => having(RECORDS, placesOf(parameter), (value) => isLike(value, asked)));
    const isSame = (value: string, asked: string): boolean => value === asked;
    const hasPart = (value: string, asked: string): boolean => value.includes(asked);
    const cases: readonly (readonly [string, readonly string[], typeof isSame])[] = [
      ['user_filter', users, isSame],
      ['user_search', ['ada', 'kube-system:repl', 'da.lo', 'ADA'], hasPart],
      ['group_search', ['masters', 'authenticated', 'platform-reg'], hasPart],
      ['source_ip_search', ['10.0.0.7', '::1', '192.168'], hasPart],
      ['objectref_name_filter', ['web*1', 'cart', 'car'], isSame],
      ['objectref_name_search', ['b*1', 'worker', 'cart-7d'], hasPart],
      ['objectref_resource_filter', ['pods', 'nodes', 'users'], isSame],
      ['objectref_subresource_filter', ['exec', 'log'], isSame],
      ['response_code_filter', ['200', '403', '0403', '999'], (value, asked) => Number(value) === Number(asked)],
      ['response_status_filter', ['Failure', 'failure'], isSame],
      ['verb_filter', ['delete', 'Delete'], isSame],
      ['level_filter', ['RequestResponse', 'Request'], isSame],
    ];
    for (const [parameter, values, isLike] of cases) {
      const counts = expected(parameter, values, isLike);
      expect([parameter, await totals(AUDIT_WORDS, parameter, values)]).toEqual([parameter, counts]);
      expect(counts[0]).toBeGreaterThan(0);
    }
  });

  test('E-01 answers the longest lists for a caller with 260 namespaces that are younger than the start', async () => {
    const searches = await stand.another({ objects: MANY });
    atEnd(() => searches.stop());
    const longest = (words: DocumentWords): Record<string, string> =>
      Object.fromEntries(
        Object.entries(words.conditions).map(([parameter, [comparison]]) => [parameter, LONGEST[comparison].join(',')]),
      );
    for (const words of [EVENT_WORDS, AUDIT_WORDS])
      expect(await searches.ask(words, 'una', { ...longest(words), ...ANY_TIME })).toMatchObject({ status: 200 });
    const { body } = await searches.ask(EVENT_WORDS, 'una', ALL);
    expect(body.query.records).toEqual(
      readable(EVENTS, EVENT_WORDS, ['shop']).filter(
        (one) => textIn({ index: '', source: one }, 'lastTimestamp') !== '',
      ),
    );
  });

  test('AU-02 shows records without a namespace, and those of namespaces that are gone, in queries without a namespace', async () => {
    const { namespaces, workspaceParts } = AUDIT_WORDS.scope;
    const named = having(RECORDS, AUDIT_WORDS.namespace, (value) => value in existingNamespaces());
    const every = [...Object.keys(existingNamespaces())].join(',');
    expect(named).toBeLessThan(RECORDS.length - 50);
    expect(await totals(AUDIT_WORDS, namespaces, ['', every, 'gone'])).toEqual([RECORDS.length, named, 0]);
    const finance = having(RECORDS, AUDIT_WORDS.namespace, (value) => value === 'billing');
    expect(await totals(AUDIT_WORDS, workspaceParts, ['INAN'])).toEqual([finance]);
    expect((await found(AUDIT_WORDS, { objectref_resource_filter: 'nodes' })).total).toBeGreaterThan(0);
    expect((await found(AUDIT_WORDS, { objectref_resource_filter: 'nodes' }, 'alva')).total).toBe(0);
  });

  test('AU-03 finds the records that Gatehouse writes about sign-ins, accounts and calls to the cluster', async () => {
    const records = await ownRecords();
    const day = (records[0]?.RequestReceivedTimestamp ?? '').slice(0, 10).replaceAll('-', '.');
    const index = `ks-logstash-auditing-${day}`;
    await stand.store.add(records.map((source) => ({ index, source })));
    for (const { query, record } of OWN_ACTS) {
      const { records: newest } = await found(AUDIT_WORDS, { ...query, size: '1' });
      expect(newest).toMatchObject([record]);
      expect(records).toContainEqual(newest[0]);
    }
    await stand.store.ask('DELETE', `/${index}`);
  });
});

/** What Gatehouse writes into its audit trail about some acts. */
async function ownRecords(): Promise<readonly { readonly RequestReceivedTimestamp: string }[]> {
  const lines: string[] = [];
  const own = await startOwnTrail((line) => void lines.push(line));
  try {
    await doActs(own);
    const records = () => lines.filter((line) => line.startsWith('{"AuditID":'));
    await expect.poll(() => records().filter((line) => line.includes('"delete"')).length).toBe(1);
    return records().map((line) => JSON.parse(line));
  } finally {
    await own.stop();
  }
}
