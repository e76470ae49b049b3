import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../support/default-limits.ts';
import { nextEvent } from '../../support/next-event.ts';
import { eventually, listsWith, startApp } from './app-under-test.ts';

const LIST = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const PIECE = 100_000;
const PIECES = 400; // 40 MB: more than a batch, and more than what two sockets buffer

const pieces = Array.from({ length: PIECES }, (_, index) =>
  Buffer.alloc(PIECE, String.fromCharCode(97 + (index % 26))),
);
const representation = {
  etag: () => '"e-1"',
  compose: () => undefined,
  body: () => ({ pieces, length: PIECE * PIECES }),
  identityLength: PIECE * PIECES,
};
const nodes = { list: () => representation, get: () => undefined };

const GET = `GET ${LIST} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\n\r\n`;

describe('a list of 40 MB in pieces', () => {
  test('arrives whole and in order', async () => {
    const app = await startApp({ lists: listsWith({ lister: nodes }) });
    try {
      const answer = await app.get(LIST, { headers: { 'Accept-Encoding': 'identity' } });
      const received = createHash('sha256').update(Buffer.from(await answer.arrayBuffer()));
      const sent = createHash('sha256').update(Buffer.concat(pieces));
      expect(received.digest('hex')).toBe(sent.digest('hex'));
    } finally {
      await app.stop();
    }
  });

  test.each([
    ['a batch', nodes],
    [
      'the end of the last batch',
      {
        ...nodes,
        list: () => ({ ...representation, body: () => ({ pieces: pieces.slice(0, 150), length: PIECE * 150 }) }),
      },
    ],
  ])(
    'a client that takes nothing of %s is cut off after the send time-out, others are served meanwhile',
    async (_, lister) => {
      const limits = { ...defaultLimits, sendTimeoutMs: 200 };
      const app = await startApp({ lists: listsWith({ lister }), limits });
      const socket = connect(app.port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.pause();
      socket.write(GET);
      expect((await app.get('/healthz')).status).toBe(200);
      await eventually(() => app.lines.some((line) => line['route'] === LIST && line['aborted'] === true));
      socket.destroy();
      await app.stop();
    },
  );

  test('HL-05 holds no place while its client takes nothing', async () => {
    const app = await startApp({
      lists: listsWith({ lister: nodes }),
      limits: { ...defaultLimits, maxRequestsInFlight: 1 },
    });
    const socket = connect(app.port, '127.0.0.1');
    try {
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(GET);
      await once(socket, 'readable'); // it has begun; nobody reads on
      expect((await app.get('/version')).status).toBe(200);
      expect(app.lines.some((line) => line['route'] === LIST)).toBe(false);
    } finally {
      socket.destroy();
      await app.stop();
    }
  });

  test('stops being written when its client goes', async () => {
    const app = await startApp({ lists: listsWith({ lister: nodes }) });
    const socket = connect(app.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(GET);
    await nextEvent(socket, 'data');
    socket.destroy();
    await eventually(() => app.lines.some((line) => line['route'] === LIST && line['aborted'] === true));
    await app.stop();
  });
});

describe('a list whose body takes many turns to compose', () => {
  /** A list that is composed when the test says so, or cannot be. */
  function composing() {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const asked = { times: 0 };
    const compose = (): Promise<void> => {
      asked.times++;
      return promise;
    };
    const lister = { ...nodes, list: () => ({ ...representation, compose }) };
    return { asked, lister, resolve, reject };
  }

  test('is sent when it is there, others are served meanwhile', async () => {
    const { asked, lister, resolve } = composing();
    const app = await startApp({ lists: listsWith({ lister }) });
    try {
      const answer = app.get(LIST, { headers: { 'Accept-Encoding': 'identity' } });
      await eventually(() => asked.times === 1);
      expect((await app.get('/healthz')).status).toBe(200);
      resolve();
      expect((await (await answer).arrayBuffer()).byteLength).toBe(PIECE * PIECES);
    } finally {
      await app.stop();
    }
  });

  test('is not composed for a caller who has it', async () => {
    const { asked, lister } = composing();
    const app = await startApp({ lists: listsWith({ lister }) });
    try {
      expect((await app.get(LIST, { headers: { 'If-None-Match': '"e-1"' } })).status).toBe(304);
      expect(asked.times).toBe(0);
    } finally {
      await app.stop();
    }
  });

  test('harms nobody when its client goes meanwhile', async () => {
    const { asked, lister, resolve } = composing();
    const app = await startApp({ lists: listsWith({ lister }) });
    try {
      const socket = connect(app.port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(GET);
      await eventually(() => asked.times === 1);
      socket.destroy();
      await eventually(() => app.lines.some((line) => line['route'] === LIST && line['aborted'] === true));
      resolve();
      expect((await app.get('/healthz')).status).toBe(200);
    } finally {
      await app.stop();
    }
  });

  test('is a 500 that tells nothing when it cannot be composed', async () => {
    const { asked, lister, reject } = composing();
    const app = await startApp({ lists: listsWith({ lister }) });
    try {
      const answering = app.get(LIST);
      await eventually(() => asked.times === 1);
      reject(new Error('a leaf is missing'));
      const answer = await answering;
      expect(answer.status).toBe(500);
      expect(await answer.text()).not.toContain('leaf');
    } finally {
      await app.stop();
    }
  });
});
