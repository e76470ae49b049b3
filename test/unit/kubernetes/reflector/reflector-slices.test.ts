import { afterEach, describe, expect, test } from 'vitest';
import { StoreReflector } from '../../../../src/kubernetes/reflector/reflector.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MapStore } from '../../../support/map-store.ts';
import { eachTurn, shortSlices } from '../../../support/steps.ts';
import { event, initialEventsEnd, measured, node, silent } from '../objects.ts';
import { page, ScriptedSource } from './scripted-source.ts';

const noJitter = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };

/** Some hundreds of steps, eight a turn at most. */
const NODES = 1_000;
const versionsAt = (version: number) =>
  Array.from({ length: NODES }, (_, index) => node(`n${String(index).padStart(4, '0')}`, String(version + index)));

const stops: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));

async function start() {
  const source = new ScriptedSource();
  const store = new MapStore();
  const clock = new FakeClock();
  const { metrics, value } = measured();
  const slices = shortSlices();
  const plan = { longestPeriodMs: 3_600_000 };
  const parts = { name: 'nodes', source, store, clock, random: noJitter, slices, logger: silent, metrics, plan };
  const reflector = new StoreReflector(parts);
  const controller = new AbortController();
  const running = reflector.run(controller.signal);
  const stop = async (): Promise<void> => {
    controller.abort();
    await running;
  };
  stops.push(stop);
  await clock.advance(0);
  return { source, store, clock, value, reflector, stop };
}

/** A state of a thousand nodes has come by a stream, and is on its way into the store. */
async function startTaking() {
  const parts = await start();
  const { sink } = parts.source.lastWatch;
  sink.accepted();
  for (const object of versionsAt(1_000)) sink.event(event('ADDED', object));
  sink.event(initialEventsEnd('2000'));
  return { ...parts, sink };
}

async function startSynced() {
  const parts = await startTaking();
  await eachTurn(() => parts.reflector.hasSynced());
  return parts;
}

describe('a list that goes into the store over many turns', () => {
  test('is seen whole at its end, and not before', async () => {
    const { store, reflector } = await startTaking();
    const turns = await eachTurn(() => {
      expect(store.size).toBe(reflector.hasSynced() ? NODES : 0);
      return reflector.hasSynced();
    });
    expect(turns).toBeGreaterThan(100);
  });

  test('asks its source for nothing more, and takes what comes nevertheless behind it, in order', async () => {
    const { sink, store, reflector, source } = await startTaking();
    expect(sink.busy?.()).toBeInstanceOf(Promise);
    sink.event(event('MODIFIED', node('n0001', '2001')));
    sink.event(event('ADDED', node('late', '2002')));
    sink.event(event('DELETED', node('late', '2003')));
    expect([store.puts, store.removals]).toEqual([0, 0]);
    await eachTurn(() => reflector.hasSynced());
    await sink.busy?.();
    expect([store.size, store.puts, store.removals]).toEqual([NODES, 2, 1]);
    expect(store.versions()[1]).toBe('n0001@2001');
    expect(sink.busy?.()).toBeUndefined();
    source.lastWatch.end({ kind: 'closed' });
    await eachTurn(() => source.watches.length === 2);
    expect(source.lastWatch.request.resourceVersion).toBe('2003');
  });

  test('ends its stream for what came behind it', async () => {
    const { sink, source, reflector } = await startTaking();
    sink.event({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    await eachTurn(() => reflector.hasSynced());
    await eachTurn(() => source.watches.length === 2);
    expect(source.lastWatch.request).toMatchObject({ initialEvents: true, resourceVersion: '2000' });
  });

  test('counts when its stream ends meanwhile', async () => {
    const { source, store, value, clock } = await startTaking();
    source.lastWatch.end({ kind: 'closed' });
    await eachTurn(() => store.size === NODES);
    await clock.advance(2_000);
    expect(source.lastWatch.request).toEqual({ resourceVersion: '2000', timeoutSeconds: 300 });
    expect(await value('reflector_lists_total', { result: 'ok' })).toBe(1);
  });

  test('leaves nothing of itself when it is stopped half-way', async () => {
    const { store, stop, reflector } = await startTaking();
    await eachTurn(() => true);
    await stop();
    expect([store.size, store.replacements, reflector.hasSynced()]).toEqual([0, 0, false]);
  });

  test.each(['stream', 'pages'] as const)('leaves the old set, whole, until it is there (%s)', async (form) => {
    const { source, store, value } = await startSynced();
    const old = store.versions();
    const relisted = versionsAt(3_000).slice(NODES / 2);
    if (form === 'pages') source.answerLists(page(relisted, '4000'));
    source.lastWatch.end({ kind: 'expired' });
    await eachTurn(() => source.watches.length === 2);
    const { sink, end } = source.lastWatch;
    if (form === 'pages') end({ kind: 'unsupported' });
    else {
      sink.accepted();
      for (const object of relisted) sink.event(event('ADDED', object));
      sink.event(initialEventsEnd('4000'));
    }
    const turns = await eachTurn(() => {
      if (store.replacements === 1) expect(store.versions()).toEqual(old);
      return store.replacements === 2;
    });
    expect(turns).toBeGreaterThan(50);
    expect([store.size, store.versions()[0]]).toEqual([NODES / 2, 'n0500@3500']);
    expect(await value('reflector_relist_surprises_total')).toBe(0);
  });

  test('leaves the old set when it is stopped half-way through a relist', async () => {
    const { source, store, stop } = await startSynced();
    const old = store.versions();
    source.lastWatch.end({ kind: 'expired' });
    await eachTurn(() => source.watches.length === 2);
    const { sink } = source.lastWatch;
    sink.accepted();
    for (const object of versionsAt(3_000)) sink.event(event('ADDED', object));
    sink.event(initialEventsEnd('4000'));
    for (let turn = 0; turn < 50; turn++) await eachTurn(() => true);
    await stop();
    expect([store.versions(), store.replacements]).toEqual([old, 1]);
  });
});
