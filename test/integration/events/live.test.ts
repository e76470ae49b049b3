import { describe, expect, test } from 'vitest';
import { SearchStand } from './search-stand.ts';

const at = (minute: number): string => `2026-03-09T10:${String(minute).padStart(2, '0')}:00Z`;
const secondsOf = (minute: number): number => Date.parse(at(minute)) / 1_000;
const LIVE = { events: { live: true } };
const WARNING = '299 - "these are the events that the cluster still has; no store of events is configured"';

/** Three events of three namespaces, the newest last, and one of a node. */
async function startWithEvents(config: Readonly<Record<string, unknown>> = LIVE): Promise<SearchStand> {
  const stand = await SearchStand.start(config);
  stand.event('pulled', { lastTimestamp: at(1) });
  stand.event('failed', {
    ...{ namespace: 'green', type: 'Warning', reason: 'BackOff', lastTimestamp: at(2) },
    message: 'Back-off pulling image "example.test/web"',
  });
  stand.event('killed', { namespace: 'blue', reason: 'Killing', lastTimestamp: at(3) });
  stand.event('node-ready', { namespace: '', reason: 'NodeReady', lastTimestamp: at(4) });
  return stand;
}

describe('E-05 the events that the cluster still has', () => {
  test('are found, the newest first, and the answer says where they are from', async () => {
    const stand = await startWithEvents();
    expect(await stand.names('')).toEqual(['node-ready', 'killed', 'failed', 'pulled']);
    const { headers, body } = await stand.events('size=1&from=1&sort=asc');
    expect(headers.get('warning')).toBe(WARNING);
    expect(body.query).toMatchObject({ total: 4, records: [{ reason: 'BackOff', involvedObject: { name: 'web-1' } }] });
    expect((await stand.events('operation=statistics')).body).toEqual({ statistics: { resources: 4, events: 4 } });
  });

  test('are counted in buckets, the empty ones too', async () => {
    const stand = await startWithEvents();
    const range = `start_time=${secondsOf(1)}&end_time=${secondsOf(3)}`;
    const { body } = await stand.events(`operation=histogram&interval=1m&${range}&involved_object_kind_filter=pod`);
    expect(body.histogram.total).toBe(3);
    expect(body.histogram.buckets).toEqual([1, 2, 3].map((minute) => ({ time: Date.parse(at(minute)), count: 1 })));
    const hours = await stand.events('operation=histogram&interval=1d');
    expect(hours.body.histogram.buckets).toEqual([{ time: Date.parse('2026-03-09T00:00:00Z'), count: 4 }]);
  });

  test.each([
    ['type_filter=warning', ['failed']],
    ['reason_filter=BackOff,Killing', ['killed', 'failed']],
    ['reason_search=ack', ['failed']],
    ['message_search=pulling im', ['failed']],
    ['message_search=im pulling', []],
    ['involved_object_namespace_filter=red,blue', ['killed', 'pulled']],
    ['involved_object_namespace_search=RE', ['failed', 'pulled']],
    ['involved_object_name_filter=web-1&reason_filter=pulled', ['pulled']],
    ['involved_object_name_filter=web', []],
    ['involved_object_name_search=web', ['node-ready', 'killed', 'failed', 'pulled']],
    [`start_time=${secondsOf(2)}&end_time=${secondsOf(3)}&endTime=x`, ['killed', 'failed']],
  ])('are those that match %s', async (parameters, names) => {
    const stand = await startWithEvents();
    expect(await stand.names(parameters)).toEqual(names);
  });

  test('are those of the namespaces of a workspace, by its name or a part of it', async () => {
    const stand = await startWithEvents();
    const labels = { 'gatehouse.io/workspace': 'wsp-one' };
    stand.kinds.cluster.objects.patch('namespaces', 'green', { metadata: { labels } });
    await stand.kinds.clock.until(
      () => stand.names('workspace_filter=wsp-one'),
      (names) => typeof names !== 'number' && names.length > 0,
    );
    expect(await stand.names('workspace_filter=wsp-one,other')).toEqual(['failed']);
    expect(await stand.names('workspace_search=WSP')).toEqual(['failed']);
    expect(await stand.names('workspace_filter=wsp')).toEqual([]);
    expect(await stand.names('workspace_filter=wsp-one&involved_object_namespace_filter=red')).toEqual([]);
  });

  test('E-04 count from the latest of their times, whichever a component has filled', async () => {
    const stand = await SearchStand.start({ kinds: { events: true } });
    const empty = { lastTimestamp: null };
    stand.event('by-event-time', { ...empty, eventTime: '2026-03-09T10:02:00.000001Z' });
    stand.event('by-series', { eventTime: at(1), series: { count: 2, lastObservedTime: at(4) }, ...empty });
    stand.event('by-last', { lastTimestamp: at(3), eventTime: at(1) });
    expect(await stand.names(`start_time=${secondsOf(2)}&end_time=${secondsOf(4)}`)).toEqual([
      'by-series',
      'by-last',
      'by-event-time',
    ]);
  });

  test('E-05 are not served by default, with `events.live: false`, or where no kind is in memory', async () => {
    for (const config of [
      {},
      { events: { live: false }, kinds: { events: true } },
      { kinds: { enabled: false }, events: { live: true } },
    ]) {
      const stand = await SearchStand.start(config);
      const { status, body } = await stand.events('');
      expect([status, body.message]).toEqual([404, 'the search of events is not configured']);
    }
  });

  test('are 400 with every bad parameter named at once', async () => {
    const stand = await SearchStand.start(LIVE);
    const { status, body } = await stand.events('operation=export&size=x&reason_search=a&pods=p');
    expect(status).toBe(400);
    expect(body.details.causes.map(({ field }: { field: string }) => field)).toEqual([
      ...['operation', 'size', 'reason_search', 'pods'],
    ]);
  });
});

describe('E-01 a person without rights in the whole cluster', () => {
  test('E-02 is refused without the right to the path', async () => {
    const stand = await startWithEvents();
    stand.kinds.allow('red', { resource: 'events' });
    expect(await stand.names('', 'joe')).toBe(403);
  });

  test('finds the events of the namespaces whose events the person may list, and none of nodes', async () => {
    const stand = await startWithEvents();
    stand.allowEverywhere('tenant.gatehouse.io', 'events');
    expect(await stand.names('', 'joe')).toEqual([]);
    stand.kinds.allow('red', { resource: 'events' });
    stand.kinds.allow('blue', { resource: 'events', verbs: ['get'] });
    await stand.kinds.clock.spend(60_000); // the refusals are remembered for a while
    // Events of 2026 are older than these namespaces, which were made just now.
    expect(await stand.names('', 'joe')).toEqual([]);
    const now = new Date(stand.kinds.clock.now()).toISOString();
    for (const namespace of ['red', 'green', 'blue', ''])
      stand.event(`new-${namespace}`, { namespace, lastTimestamp: now });
    expect(await stand.names('', 'joe')).toEqual(['new-red']);
    expect(await stand.names('involved_object_namespace_filter=green', 'joe')).toEqual([]);
    expect((await stand.events('operation=statistics', 'joe')).body.statistics).toEqual({ resources: 1, events: 1 });
  });
});
