import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Connections } from '../../../../src/http/connection/connections.ts';
import type { InFlight } from '../../../../src/http/connection/pipeline.ts';

/** One end of a connection, as far as it is looked at. */
class FakeSocket extends EventEmitter {
  bytesRead = 0;
  destroyed = false;
  isRead = true;
  writable = true;
  remoteAddress = '192.0.2.1';
  remotePort = 40_000;
  localAddress = '192.0.2.9';

  /** A closed one says so later, as Node's do. */
  destroy(): void {
    this.destroyed = true;
    this.writable = false;
  }

  destroySoon(): void {
    this.destroy();
  }

  closed(): void {
    this.destroy();
    this.emit('close');
  }

  pause(): void {
    this.isRead = false;
  }

  resume(): void {
    this.isRead = true;
  }
}

const from = (remoteAddress: string): FakeSocket => Object.assign(new FakeSocket(), { remoteAddress });
const asSocket = (socket: FakeSocket): Socket => socket as unknown as Socket;

interface Asked extends InFlight {
  answered(): void;
}

/** A request on this socket, and a way to say that its answer is complete. */
function requestOn(socket: FakeSocket, complete = true): Asked {
  const response = Object.assign(new EventEmitter(), { headersSent: false, shouldKeepAlive: true });
  return {
    request: { socket, complete, resume: () => {} } as unknown as IncomingMessage,
    response: response as unknown as ServerResponse,
    answered: () => response.emit('close'),
  };
}

function newConnections(limits: { maxConnections?: number; maxConnectionsPerAddress?: number } = {}) {
  const refused: string[] = [];
  const connections = new Connections({ maxConnections: 100, maxConnectionsPerAddress: 100, ...limits }, (reason) =>
    refused.push(reason),
  );
  const handled: IncomingMessage[] = [];
  const open = (socket = new FakeSocket()): FakeSocket => {
    connections.opened(asSocket(socket));
    return socket;
  };
  const ask = (socket: FakeSocket, complete = true): Asked => {
    const asked = requestOn(socket, complete);
    connections.came(asked, ({ request }) => handled.push(request));
    return asked;
  };
  return { connections, refused, handled, open, ask };
}

describe('the cap of connections (HL-03)', () => {
  test('closes the oldest idle one beyond the most in total', () => {
    const { connections, refused, open, ask } = newConnections({ maxConnections: 2 });
    const [busy, idle] = [open(from('192.0.2.1')), open(from('192.0.2.2'))];
    ask(busy);
    const newest = open(from('192.0.2.3'));
    expect([busy.destroyed, idle.destroyed, newest.destroyed]).toEqual([false, true, false]);
    expect([refused, connections.size]).toEqual([['connections'], 2]);
  });

  test('closes the oldest idle one of the same address beyond the most of one address', () => {
    const { connections, refused, open } = newConnections({ maxConnectionsPerAddress: 1 });
    const [other, first, second] = [open(from('192.0.2.2')), open(), open()];
    expect([other.destroyed, first.destroyed, second.destroyed]).toEqual([false, true, false]);
    expect([refused, connections.size]).toEqual([['connections_per_address'], 2]);
  });

  test('A-11 refuses the new one when all others are busy', () => {
    const { connections, refused, open, ask } = newConnections({ maxConnections: 1 });
    const busy = open();
    ask(busy);
    const newest = open();
    expect([busy.destroyed, newest.destroyed]).toEqual([false, true]);
    expect([refused, connections.size]).toEqual([['connections'], 1]);
  });

  test('still counts the others of an address when one of them has closed', () => {
    const { refused, open } = newConnections({ maxConnectionsPerAddress: 2 });
    const [left, stays] = [open(), open()];
    left.closed();
    const another = open();
    expect(refused).toEqual([]);
    const newest = open();
    expect([refused, stays.destroyed, another.destroyed, newest.destroyed]).toEqual([
      ['connections_per_address'],
      true,
      false,
      false,
    ]);
  });

  test('counts no connection that its client closed, nor twice one that was closed here', () => {
    const { connections, refused, open } = newConnections({ maxConnections: 2, maxConnectionsPerAddress: 1 });
    open().closed();
    expect(connections.size).toBe(0);
    const first = open();
    const second = open(); // closes the first
    first.closed();
    expect([connections.size, connections.has(asSocket(second))]).toEqual([1, true]);
    second.closed();
    open();
    expect([connections.size, refused]).toEqual([1, ['connections_per_address']]);
  });
});

describe('a connection under TLS', () => {
  test('is found by the socket that requests come over, from the end of its handshake on', () => {
    const { connections, refused } = newConnections();
    const [raw, tls] = [new FakeSocket(), new FakeSocket()];
    connections.openedForTls(asSocket(raw));
    expect([connections.size, connections.has(asSocket(tls))]).toEqual([1, false]);
    connections.secured(asSocket(tls));
    expect(connections.has(asSocket(tls))).toBe(true);
    raw.closed();
    expect([connections.size, connections.has(asSocket(tls)), refused]).toEqual([0, false, []]);
  });

  test('is found although an older one with the same two ends closes during its handshake', () => {
    const { connections } = newConnections();
    const [older, newer, tls] = [new FakeSocket(), new FakeSocket(), new FakeSocket()];
    connections.openedForTls(asSocket(older));
    connections.openedForTls(asSocket(newer));
    older.closed();
    connections.secured(asSocket(tls));
    expect(connections.has(asSocket(tls))).toBe(true);
  });

  test('that closed in its handshake is no other one', () => {
    const { connections } = newConnections();
    const [raw, tls] = [new FakeSocket(), new FakeSocket()];
    connections.openedForTls(asSocket(raw));
    raw.closed();
    connections.openedForTls(asSocket(Object.assign(new FakeSocket(), { remotePort: 40_001 })));
    connections.secured(asSocket(tls));
    expect(connections.has(asSocket(tls))).toBe(false);
  });
});

describe('a request', () => {
  test('is handled at once, and the next of its connection after its answer', () => {
    const { connections, handled, open, ask } = newConnections();
    const socket = open();
    const [first, second] = [ask(socket), ask(socket)];
    expect(handled).toEqual([first.request]);
    expect(connections.currentOf(asSocket(socket))).toBe(second);
    first.answered();
    expect(handled).toEqual([first.request, second.request]);
    expect(connections.currentOf(asSocket(socket))?.request).toBe(second.request);
    second.answered();
    expect(connections.currentOf(asSocket(socket))).toBeUndefined();
  });

  test('is handled at once again after some had to wait', () => {
    const { handled, open, ask } = newConnections();
    const socket = open();
    for (const { answered } of [ask(socket), ask(socket)]) answered();
    const third = ask(socket);
    expect(handled.at(-1)).toBe(third.request);
  });

  test('of a connection that was never told of is handled at once, and leaves nothing behind', () => {
    const { connections, handled, ask } = newConnections();
    const stranger = new FakeSocket();
    const asked = ask(stranger);
    expect(handled).toEqual([asked.request]);
    expect([connections.currentOf(asSocket(stranger)), connections.awaitsBodyAlone(asSocket(stranger))]).toEqual([
      undefined,
      false,
    ]);
  });

  test('of a connection that is gone is not handled', () => {
    const { handled, open, ask } = newConnections();
    const socket = open();
    socket.destroy();
    ask(socket);
    expect(handled).toEqual([]);
  });

  test('behind an answer that closes is not handled (RFC 9112 9.6)', () => {
    const { handled, open, ask } = newConnections();
    const socket = open();
    const first = ask(socket);
    ask(socket);
    socket.writable = false;
    first.answered();
    expect(handled).toEqual([first.request]);
  });

  test('A-12 is the last to be read while more than twelve wait', async () => {
    const { open, ask } = newConnections();
    const socket = open();
    const asked = Array.from({ length: 13 }, () => ask(socket));
    await nextTurn();
    expect(socket.isRead).toBe(true);
    asked.push(ask(socket));
    await nextTurn();
    expect(socket.isRead).toBe(false);
    asked[0]?.answered();
    expect(socket.isRead).toBe(true);
  });

  test('A-12 that is too many to wait is counted once, and its connection closes behind the answers before it', () => {
    const { refused, handled, open, ask } = newConnections();
    const socket = open();
    const asked = Array.from({ length: 195 }, () => ask(socket)); // one is handled, 192 wait
    expect([refused, socket.destroyed]).toEqual([['pipelined'], false]);
    expect(asked[192]?.response.shouldKeepAlive).toBe(false);
    for (const { answered } of asked.slice(0, 193)) answered();
    expect([handled.length, socket.destroyed]).toEqual([193, true]);
  });

  test('A-12 that is too many to wait ends a pause, and leaves an answer that has begun as it is', async () => {
    const { refused, open, ask } = newConnections();
    const socket = open();
    const asked = Array.from({ length: 193 }, () => ask(socket));
    await nextTurn();
    expect([refused, socket.isRead]).toEqual([[], false]);
    Object.assign(asked[192]?.response ?? {}, { headersSent: true });
    ask(socket);
    expect([refused, socket.isRead, asked[192]?.response.shouldKeepAlive]).toEqual([['pipelined'], true, true]);
  });

  test('A-12 gives its room back when its connection closes', () => {
    const { refused, open, ask } = newConnections();
    for (let round = 0; round < 3; round++) {
      const sockets = Array.from({ length: 40 }, () => open());
      for (const socket of sockets) for (let index = 0; index <= 192; index++) ask(socket); // 15 MiB in all
      for (const socket of sockets) socket.closed();
    }
    expect(refused).toEqual([]);
  });

  test('A-12 cuts its connection when the others have left no room for what is refused', () => {
    const { refused, open, ask } = newConnections();
    const fill = (requests: number, socket = open()): void => {
      for (let index = 0; index <= requests; index++) ask(socket); // one is handled, the others wait
    };
    for (let index = 0; index < 42; index++) fill(192); // 384 KiB each
    fill(128); // 16 MiB in all
    expect(refused).toEqual([]);
    const last = open();
    for (let index = 0; index < 14; index++) ask(last);
    expect([refused, last.destroyed]).toEqual([['pipelined'], true]);
  });
});

describe('the end of the answers of a connection', () => {
  test('is now where none is being made, else behind the last of them, and told once', () => {
    const { connections, open, ask } = newConnections();
    const socket = open();
    const told: string[] = [];
    const asked = ask(socket);
    connections.afterAnswers(asSocket(socket), () => told.push('first'));
    connections.afterAnswers(asSocket(socket), () => told.push('second'));
    expect(told).toEqual([]);
    asked.answered();
    expect(told).toEqual(['first']);
    connections.afterAnswers(asSocket(open()), () => told.push('idle'));
    expect(told).toEqual(['first', 'idle']);
  });

  test('does not come behind an answer that closes while others wait', () => {
    const { connections, open, ask } = newConnections();
    const socket = open();
    const [first] = [ask(socket), ask(socket)];
    const told: string[] = [];
    connections.afterAnswers(asSocket(socket), () => told.push('told'));
    socket.writable = false;
    first?.answered();
    expect(told).toEqual([]);
  });

  test('does not wait for a request of which the rest will not come', () => {
    const { connections, open, ask } = newConnections();
    const socket = open();
    const whole = ask(socket);
    ask(socket, false);
    const told: string[] = [];
    connections.afterAnswers(asSocket(socket), () => told.push('told'));
    expect(connections.currentOf(asSocket(socket))).toBeUndefined();
    whole.answered();
    expect(told).toEqual(['told']);
  });
});

describe('a request that waits for its body', () => {
  test.each([
    ['alone', false, false, 1, true],
    ['with a complete body', true, false, 1, false],
    ['with an answer that began', false, true, 1, false],
    ['with another behind it', false, false, 2, false],
    ['never', false, false, 0, false],
  ])('%s', (_, complete, headersSent, requests, expected) => {
    const { connections, open, ask } = newConnections();
    const socket = open();
    for (let index = 0; index < requests; index++) Object.assign(ask(socket, complete).response, { headersSent });
    expect(connections.awaitsBodyAlone(asSocket(socket))).toBe(expected);
  });
});

describe('the connections of a server that ends (R-07)', () => {
  test('say so in every answer that has not begun, and in those to come', () => {
    const { connections, open, ask } = newConnections();
    const [begun, waiting] = [ask(open()), ask(open())];
    Object.assign(begun.response, { headersSent: true });
    connections.drain();
    const later = ask(open());
    expect([begun, waiting, later].map(({ response }) => response.shouldKeepAlive)).toEqual([true, false, false]);
  });

  test('close when idle, those without a first request at the second call, busy ones at the last', () => {
    const { connections, open, ask } = newConnections();
    const [answered, fresh, busy] = [open(), open(), open()];
    ask(answered).answered();
    ask(busy);
    const closed = (): boolean[] => [answered, fresh, busy].map(({ destroyed }) => destroyed);
    connections.closeIdle(false);
    expect(closed()).toEqual([true, false, false]);
    connections.closeIdle(true);
    expect(closed()).toEqual([true, true, false]);
    connections.closeAll();
    expect([...closed(), connections.size]).toEqual([true, true, true, 0]);
  });
});
