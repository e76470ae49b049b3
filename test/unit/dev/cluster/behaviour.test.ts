import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { errorEvent, eventLine, type StreamFault, tooLarge } from '../../../../dev/cluster/behaviour.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { eventsIn, lineCount, startTestCluster, WATCH_NODES } from './test-cluster.ts';

const NODES = '/api/v1/nodes';
const watchNodes = { verb: 'watch', kind: 'nodes' };

/** A watch under a fault, with two nodes created once it is open. */
async function watchUnder(fault: StreamFault) {
  const cluster = await startTestCluster();
  cluster.faults.next(watchNodes, { stream: fault });
  const watch = await cluster.stream(`${WATCH_NODES}${cluster.objects.resourceVersion}`);
  for (const name of ['a', 'b', 'c']) cluster.objects.create('nodes', { metadata: { name } });
  return { cluster, watch };
}

describe('a scripted status', () => {
  test('is answered as a Status with Retry-After', async () => {
    const cluster = await startTestCluster();
    cluster.faults.next({ verb: 'list', kind: 'nodes' }, { status: 429, retryAfterSeconds: 7 });
    const { status, headers, body } = await cluster.call(NODES);
    expect({ status, retryAfter: headers['retry-after'] }).toEqual({ status: 429, retryAfter: '7' });
    expect(body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'scripted failure 429',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 7 },
      code: 429,
    });
    expect((await cluster.call(NODES)).status).toBe(200);
  });

  test('before the commit leaves the store alone, after it does not', async () => {
    const cluster = await startTestCluster();
    const create = (name: string) => cluster.call(NODES, { method: 'POST', body: { metadata: { name } } });
    cluster.faults.next({ verb: 'create' }, { status: 500 });
    cluster.faults.next({ verb: 'create' }, { status: 504, afterCommit: true });
    expect([(await create('a')).status, (await create('b')).status]).toEqual([500, 504]);
    expect(cluster.objects.list('nodes').map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  test.each(['cause', 'message'] as const)('C-22 tells a too large version by %s', async (form) => {
    const cluster = await startTestCluster();
    cluster.faults.next({}, tooLarge(form));
    const { status, body } = await cluster.call(NODES);
    expect(status).toBe(504);
    expect(body.message).toMatch(/Too large resource version/);
    expect(body.details.causes?.[0].reason).toBe(form === 'cause' ? 'ResourceVersionTooLarge' : undefined);
  });
});

describe('a scripted connection', () => {
  test.each(['reset', 'close'] as const)('ends without an answer: %s', async (connection) => {
    const cluster = await startTestCluster();
    cluster.faults.next({}, { connection });
    await expect(cluster.call(NODES)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('is a clean FIN when closed and an RST when reset', async () => {
    const cluster = await startTestCluster();
    const endOf = (): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(Number(new URL(cluster.url).port), '127.0.0.1');
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
        socket.once('end', () => resolve('FIN'));
        socket.write('GET /version HTTP/1.1\r\nHost: x\r\n\r\n');
      });
    cluster.faults.next({}, { connection: 'close' });
    cluster.faults.next({}, { connection: 'reset' });
    expect([await endOf(), await endOf()]).toEqual(['FIN', 'ECONNRESET']);
  });

  test('after the commit loses the answer only', async () => {
    const cluster = await startTestCluster();
    cluster.faults.next({ verb: 'create' }, { connection: 'reset', afterCommit: true });
    const created = cluster.call(NODES, { method: 'POST', body: { metadata: { name: 'a' } } });
    await expect(created).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(cluster.objects.get('nodes', 'a')).toBeDefined();
  });

  test('stays silent until the client leaves', async () => {
    const cluster = await startTestCluster();
    cluster.faults.next({}, { connection: 'silence' });
    const answer = cluster.call(NODES);
    const lost = expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
    await cluster.evidence.until(() => cluster.evidence.count('list', 'nodes') === 1);
    await cluster.call('/version'); // a full exchange later there is still no answer
    await cluster.restart(); // resets what is open
    await lost;
  });
});

describe('a disturbed watch', () => {
  test.each([
    ['close', 'complete'],
    ['cut', 'ECONNRESET'],
    ['reset', 'ECONNRESET'],
  ] as const)('ends after two events by %s', async (ending, end) => {
    const { watch } = await watchUnder({ afterEvents: 2, ending });
    expect(await watch.ended).toBe(end);
    expect(lineCount(await watch.until(() => true))).toBe(2);
  });

  test('C-03 closes at once, before any event', async () => {
    const { watch } = await watchUnder({ ending: 'close' });
    expect(await watch.ended).toBe('complete');
    expect(await watch.until(() => true)).toBe('');
  });

  test('C-06 falls silent in the middle of a line', async () => {
    const { cluster, watch } = await watchUnder({ afterBytes: 30, ending: 'silence' });
    const text = await watch.until((soFar) => soFar.length >= 30);
    for (const name of ['d', 'e']) cluster.objects.create('nodes', { metadata: { name } });
    await cluster.call(NODES); // a full exchange later nothing more has come
    expect(await watch.until(() => true)).toBe(text);
    expect(text).toHaveLength(30);
  });

  test('C-08 carries an ERROR event and stays open', async () => {
    const { watch } = await watchUnder({ inject: [errorEvent({ status: 410 })] });
    const events = eventsIn(await watch.until((text) => lineCount(text) === 4));
    expect(events.map(({ type }) => type)).toEqual(['ERROR', 'ADDED', 'ADDED', 'ADDED']);
    expect(events[0].object).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
  });

  test('C-14 breaks off in the middle of a line', async () => {
    const { watch } = await watchUnder({ afterEvents: 1, inject: ['{"type":"MODI'], ending: 'close' });
    expect(await watch.ended).toBe('complete');
    expect(await watch.until(() => true)).toMatch(/^\{"type":"ADDED".*\}\n\{"type":"MODI$/);
  });

  test('C-15 carries garbage between events', async () => {
    const { watch } = await watchUnder({ afterEvents: 1, inject: ['}{ garbage\n'] });
    const lines = (await watch.until((text) => lineCount(text) === 4)).split('\n');
    expect(lines[1]).toBe('}{ garbage');
    expect(JSON.parse(lines[2] ?? '').object.metadata.name).toBe('b');
  });

  test('C-18 carries any event that a test makes', async () => {
    const old = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'a', resourceVersion: '1' } };
    const { watch } = await watchUnder({ inject: [eventLine('MODIFIED', old)] });
    const [first] = eventsIn(await watch.until((text) => lineCount(text) === 4));
    expect(first).toEqual({ type: 'MODIFIED', object: old });
  });

  test('C-30 swallows an event and goes on', async () => {
    const { watch } = await watchUnder({ afterEvents: 1, drop: 1 });
    const events = eventsIn(await watch.until((text) => lineCount(text) === 2));
    expect(events.map(({ object }) => object.metadata.name)).toEqual(['a', 'c']);
  });

  test('C-26 flows at the given rate of the clock', async () => {
    const clock = new FakeClock();
    const cluster = await startTestCluster({ clock });
    cluster.faults.next(watchNodes, { stream: { bytesPerSecond: 100 } });
    const watch = await cluster.stream(`${WATCH_NODES}${cluster.objects.resourceVersion}`);
    cluster.objects.create('nodes', { metadata: { name: 'a' } });
    const lengths: number[] = [];
    for (let second = 1; second <= 2; second++) {
      await clock.advance(500);
      lengths.push((await watch.until((text) => text.length >= second * 50)).length);
    }
    expect(lengths).toEqual([60, 110]); // a slice of 10 bytes at once, then one each 100 ms
  });
});

describe('a disturbed list', () => {
  test('C-16 is cut in the middle of its gzip stream', async () => {
    const cluster = await startTestCluster();
    const filler = 'x'.repeat(200_000);
    cluster.objects.create('configmaps', { metadata: { name: 'long', namespace: 'default' }, data: { filler } });
    const read = () => cluster.call('/api/v1/configmaps', { headers: { 'accept-encoding': 'gzip' } });
    cluster.faults.next({ kind: 'configmaps' }, { stream: { afterBytes: 100, ending: 'close' } });
    const broken = await read();
    expect(broken.end).toBe('complete');
    expect(() => gunzipSync(Buffer.from(broken.text))).toThrow();
    expect((await read()).headers['content-encoding']).toBe('gzip');
  });
});
