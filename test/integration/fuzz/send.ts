import { connect } from 'node:net';
import type { HostileRequest } from './requests.ts';

/** What came of one request. */
export interface Outcome {
  readonly statuses: readonly number[];
  /** Neither answered nor closed, though the request was whole. */
  readonly isLost: boolean;
}

/** Enough to see an answer, on a machine that has something else to do as well. */
const LOOK_MS = 30;
const PATIENCE_MS = 60_000;

export interface Address {
  readonly port: number;
  /** Default: loopback. */
  readonly host?: string;
}

/** Sends it over a connection of its own. Never rejects: a connection that is cut is one of the answers. */
export function send({ port, host = '127.0.0.1' }: Address, { pieces, after }: HostileRequest): Promise<Outcome> {
  return new Promise((resolve) => {
    let received = '';
    const state = { isLost: false };
    const socket = connect({ port, host, noDelay: true });
    const timer = setTimeout(
      () => {
        state.isLost = after === 'wait';
        socket.destroy();
      },
      after === 'wait' ? PATIENCE_MS : LOOK_MS,
    );
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
    });
    socket.on('error', () => {}); // a reset, which 'close' follows
    socket.once('close', () => {
      clearTimeout(timer);
      resolve({ statuses: statusesIn(received), isLost: state.isLost });
    });
    socket.once('connect', () => {
      for (const piece of pieces) socket.write(piece, 'latin1');
      if (after === 'leave') socket.destroySoon();
    });
  });
}

const statusesIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
