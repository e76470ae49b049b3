import { describe, expect, test } from 'vitest';
import { CacheWriter } from '../../../../src/kubernetes/reflector/cache-writer.ts';
import { readPast } from '../../../../src/kubernetes/reflector/past.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type MapEntry, MapStore } from '../../../support/map-store.ts';
import { measured, node, silent } from '../objects.ts';
import { page, ScriptedSource } from './scripted-source.ts';

const EXPIRED = { kind: 'expired' } as const;
const MANY = Array.from({ length: 10_001 }, (_, at) => node(`n-${at}`, '1'));
const MIB = 1024 * 1024;

/** Reads the past from version 5000 on. The answers to lists come in this order: the present list, then old ones. */
function start(...answers: Parameters<ScriptedSource['answerLists']>) {
  const source = new ScriptedSource();
  source.answerLists(...answers);
  const store = Object.assign(new MapStore(), { bytesOf: ({ object }: MapEntry) => Number(object['bytes'] ?? 100) });
  const clock = new FakeClock();
  const writer = new CacheWriter({ store, clock, metrics: measured().metrics, logger: silent });
  const slices = new TimeSlices(clock);
  const past = readPast<MapEntry>({ since: '5000', source, writer, clock, slices }, new AbortController().signal);
  /** What happened since; the kind of the failure if that is not known. */
  const told = async (): Promise<readonly string[] | string> => {
    const read = await past;
    if (read.kind !== 'past') return read.kind;
    return read.changes.map(
      ({ key, resourceVersion, entry }) => `${entry ? 'put' : 'remove'} ${key} ${resourceVersion}`,
    );
  };
  /** Resolves when so many watches of the past have been opened, to the last one. */
  const watched = async (count = 1) => {
    while (source.watches.length < count) await Promise.resolve();
    const { sink, end, request } = source.lastWatch;
    return {
      request,
      send: (type: string, object: object) => {
        const failure = sink.event({ type, object: object as Record<string, unknown> });
        if (failure) end(failure);
        return failure;
      },
    };
  };
  const asked = () => source.lists.map(({ version, metadataOnly }) => (metadataOnly ? 'present' : version));
  return { source, store, writer, clock, past, told, watched, asked };
}

describe('KD-26 the past of a collection', () => {
  test('begins a little before the version that a client has, and at that version if the cluster has forgotten the other', async () => {
    const { source, told, asked } = start(
      page([node('a', '4000')], '6000'),
      EXPIRED,
      page([node('a', '4000')], '5000'),
    );
    expect(await told()).toEqual([]);
    expect(asked()).toEqual(['present', { exact: '4500' }, { exact: '5000' }]);
    expect(source.watches).toEqual([]);
  });

  test('begins at the version that the client has if the cluster no longer has the changes before it', async () => {
    const present = page([node('a', '5001')], '6000');
    const { source, told, watched } = start(present, page([], '4500'), page([], '5000'));
    (await watched()).send('ERROR', { kind: 'Status', code: 410, reason: 'Expired' });
    (await watched(2)).send('ADDED', node('a', '5001'));
    expect(await told()).toEqual(['put a 5001']);
    expect(source.watches.map(({ request }) => request.resourceVersion)).toEqual(['4500', '5000']);
  });

  test('begins a little before the present of a collection that has not changed for so long that the cluster has forgotten when', async () => {
    const present = page([node('a', '4000'), node('b', '90001')], '90002');
    const { told, watched, asked } = start(present, EXPIRED, EXPIRED, page([node('a', '4000')], '89502'));
    (await watched()).send('ADDED', node('b', '90001'));
    expect(await told()).toEqual(['put b 90001']);
    expect(asked()).toEqual(['present', { exact: '4500' }, { exact: '5000' }, { exact: '89502' }]);
  });

  test('is the changes from the old list to the present one, in their order, and no later ones', async () => {
    const { told, watched } = start(
      page([node('b', '5002'), node('c', '5003')], '6000'),
      page([node('a', '3000'), node('b', '3001')], '4500'),
    );
    const { request, send } = await watched();
    expect(request).toMatchObject({ resourceVersion: '4500' });
    send('MODIFIED', node('b', '5000'));
    send('DELETED', node('a', '5001'));
    send('BOOKMARK', { metadata: { resourceVersion: '5001' } });
    send('MODIFIED', node('b', '5002'));
    expect(send('ADDED', node('c', '5003'))).toEqual({ kind: 'closed' });
    expect(send('ADDED', node('d', '6001'))).toEqual({ kind: 'closed' });
    expect(await told()).toEqual(['put b 5000', 'remove a 5001', 'put b 5002', 'put c 5003']);
  });

  test('an object that was made again under its name is another one', async () => {
    const again = { metadata: { name: 'a', uid: 'another', resourceVersion: '3000' } };
    const { told, watched } = start(page([again], '6000'), page([node('a', '3000')], '4500'));
    const { send } = await watched();
    send('DELETED', node('a', '5001'));
    send('ADDED', again);
    expect(await told()).toEqual(['remove a 5001', 'put a 3000']);
  });

  test.each([
    ['the cluster no longer has any of these versions', 'expired', [page([], '6000'), EXPIRED, EXPIRED, EXPIRED]],
    ['the present list fails', 'unsupported', [{ kind: 'refused' } as const]],
    ['there are too many objects', 'unsupported', [page([], '6000'), page(MANY, '4500')]],
    [
      'the old list is throttled',
      'unsupported',
      [page([], '6000'), { kind: 'throttled', retryAfterMs: 60_000 } as const],
    ],
    ['the old list is newer than the present one', 'unsupported', [page([], '6000'), page([], '6001')]],
    [
      'an object could not be read then',
      'unsupported',
      [page([node('a', '5001')], '6000'), page([node('a', '1', { malformed: true })], '4500')],
    ],
  ])('there is none when %s', async (_, kind, answers) => {
    const { told, source } = start(...answers);
    expect(await told()).toBe(kind);
    expect(source.watches).toEqual([]);
  });

  test.each([
    ['an error', 'ERROR', { kind: 'Status', code: 500, reason: 'InternalError' }],
    ['an object without metadata', 'ADDED', { kind: 'Node' }],
    ['an object that the store cannot read', 'ADDED', node('bad', '5001', { malformed: true })],
  ])('there is none when %s comes among the changes', async (_, type, object) => {
    const { told, watched } = start(page([node('a', '5000')], '6000'), page([], '4500'));
    (await watched()).send(type, object);
    expect(typeof (await told())).toBe('string');
  });

  test.each([
    ['more than 1,500 changes', 1_500, 100],
    ['changes of more than 8 MiB', 8, MIB],
  ])(
    'begins at the version of the client if there are %s since the earlier one, and there is none if there still are',
    async (_, most, bytes) => {
      const { source, told, watched } = start(
        page([node('a', '9000')], '9000'),
        page([], '4500'),
        page([], '5000'),
        EXPIRED,
      );
      for (const watches of [1, 2]) {
        const { send } = await watched(watches);
        const change = (version: number) => send('MODIFIED', { ...node('b', `${version}`), bytes });
        for (let version = 5_001; version <= 5_000 + most; version++) expect(change(version)).toBeUndefined();
        expect(change(9_000)).toMatchObject({ kind: 'expired' });
      }
      expect(await told()).toBe('expired');
      expect(source.watches.map(({ request }) => request.resourceVersion)).toEqual(['4500', '5000']);
    },
  );

  test('is given up after four seconds', async () => {
    const { told, watched, clock } = start(page([node('a', '5000')], '6000'), page([], '4500'));
    await watched();
    await clock.advance(4_000);
    expect(await told()).toBe('aborted');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('KD-26 a mirror that begins in the past', () => {
  test('shows what the last change leads to, and nothing before it, and is as old as the present list', async () => {
    const { store, writer, past, watched, clock } = start(
      page([node('b', '5001')], '6000'),
      page([node('a', '3000')], '4500'),
    );
    const began = clock.monotonic();
    const { send } = await watched();
    await clock.advance(500);
    send('ADDED', node('b', '5001'));
    send('DELETED', node('a', '5002'));
    const read = await past;
    if (read.kind !== 'past') throw new Error(read.kind);
    const steps = writer.begin(read);
    while (!steps.next().done) expect(writer.hasSynced()).toBe(false);
    expect([writer.hasSynced(), writer.resourceVersion, writer.proof.at]).toEqual([true, '5002', began]);
    expect(store.entries().map(({ key }) => key)).toEqual(['b']);
  });
});
