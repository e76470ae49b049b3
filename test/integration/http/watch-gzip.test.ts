import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { makeNode } from '../../unit/resources/node-objects.ts';
import { eventually } from './app-under-test.ts';
import { advance, LIST, open, pass, start } from './watch-under-test.ts';

const GZIP = { 'accept-encoding': 'gzip' };

type Started = Awaited<ReturnType<typeof start>>;

/** The bytes of an answer's chunks, as they come. */
async function openRaw({ app }: Started, query = '') {
  const socket = connect(app.port, '127.0.0.1');
  atEnd(() => socket.destroy());
  const received = { bytes: Buffer.alloc(0), ended: false };
  socket.on('data', (data: Buffer) => {
    received.bytes = Buffer.concat([received.bytes, data]);
  });
  socket.on('close', () => {
    received.ended = true;
  });
  socket.write(
    `GET ${LIST}?watch=1${query} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nAccept-Encoding: gzip\r\n\r\n`,
  );
  return {
    get hasEnded() {
      return received.ended;
    },
    get body(): Buffer {
      const { bytes } = received;
      const chunks: Buffer[] = [];
      for (let at = bytes.indexOf('\r\n\r\n') + 4; at > 3 && at < bytes.length; ) {
        const end = bytes.indexOf('\r\n', at);
        const size = Number.parseInt(bytes.toString('latin1', at, end), 16);
        if (!(size > 0) || bytes.length < end + 2 + size) break;
        chunks.push(bytes.subarray(end + 2, end + 2 + size));
        at = end + 2 + size + 2;
      }
      return Buffer.concat(chunks);
    },
  };
}

describe('a watch whose caller takes gzip', () => {
  test.each(['GET', 'HEAD'])('is told so in its head: %s', async (method) => {
    const { app } = await start();
    const { response } = await open(app, '', GZIP, method);
    expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept, Accept-Encoding' });
    expect(response.headers).not.toHaveProperty('etag');
  });

  test('is one gzip member, of the events that others get plain', async () => {
    const started = await start();
    const raw = await openRaw(started, '&timeoutSeconds=3');
    const plain = await open(started.app, '&timeoutSeconds=3');
    await advance(started.clock, 1_000);
    started.cache.putNode(makeNode('node-c', {}, { spec: { note: 'x'.repeat(100_000) } }));
    await pass(started.clock, () => raw.hasEnded && plain.ending !== undefined);
    expect(gunzipSync(raw.body).toString()).toBe(plain.text);
    expect(raw.body.length).toBeLessThan(3_000);
    const lines = started.app.lines.filter(({ verb }) => verb === 'watch');
    expect(lines.map(({ bytes }) => bytes).sort()).toEqual([plain.text.length, raw.body.length].sort());
  });

  test('sends to all who take it the same bytes of a change', async () => {
    const started = await start();
    const raws = await Promise.all([openRaw(started), openRaw(started, '&resourceVersion=e1-2')]);
    await pass(started.clock, () => raws.every(({ body }) => body.length > 100));
    await advance(started.clock, 1_000);
    const before = raws.map(({ body }) => body.length);
    started.cache.putNode(makeNode('node-a', { resourceVersion: '2' }));
    await pass(started.clock, () => raws.every(({ body }, at) => body.length > (before[at] ?? 0)));
    const [one, other] = raws.map(({ body }, at) => body.subarray(before[at]));
    expect(one?.equals(other ?? Buffer.of())).toBe(true);
  });

  test('comes to fetch event by event', async () => {
    const { app, cache, clock } = await start();
    const answer = await fetch(`${app.url}${LIST}?watch=true`, { headers: { authorization: 'Bearer good' } });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    atEnd(() => reader?.cancel().catch(() => {}));
    const seen = { text: '' };
    void (async () => {
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) seen.text += part.value;
    })().catch(() => {});
    await eventually(() => seen.text.includes('"BOOKMARK"'));
    for (const version of ['2', '3']) {
      cache.putNode(makeNode('node-a', { resourceVersion: version }));
      await advance(clock, 100);
      await eventually(() => seen.text.includes(`"resourceVersion":"${version}.2.0.0"`));
    }
  });
});
