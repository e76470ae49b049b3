import { type IncomingMessage, request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import { PassageError, type PassedAnswer, type PassedCall } from './passed-call.ts';

/** A connection that the server has upgraded to another protocol. */
export interface Upgraded {
  /** The headers of the 101: names and values, alternating. */
  readonly headers: readonly string[];
  /** Also yields what the server has sent since the 101. Each direction stays open until it ends. */
  readonly socket: Socket;
}

/** From the request to the answer. Before it answers, the API server connects to the kubelet, and that to a container. */
const ANSWER_MS = 60_000;

export interface UpgradeAttempt {
  /** Connected, and used for nothing else. */
  readonly socket: Socket;
  readonly host: string;
  /** The request, with `Upgrade` among its headers. */
  readonly request: PassedCall;
}

/**
 * Sends a request for an upgrade. It does not use undici, which does not show the answer of a server that declines.
 * Resolves with the connection after a 101, and with `undefined` at the end of any other answer. Rejects if there is none.
 */
export function requestUpgrade(
  { socket, host, request }: UpgradeAttempt,
  answer: PassedAnswer,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Upgraded | undefined> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest({
      createConnection: () => socket,
      method: request.method,
      path: request.target,
      headers: ['Host', host, 'Connection', 'Upgrade', ...request.headers, ...lengthOf(request)],
    });
    const fail = (error: Error): void => {
      done();
      socket.destroy();
      reject(error);
    };
    const cancel = clock.after(ANSWER_MS, () => fail(new PassageError('timeout')));
    const stopListening = onAbort(signal, () => fail(new PassageError('left')));
    const done = (): void => {
      cancel();
      stopListening();
    };
    sent.on('error', fail);
    sent.once('upgrade', (response, upgraded, head) => {
      done();
      if (head.length > 0) upgraded.unshift(head);
      resolve({ headers: response.rawHeaders, socket });
    });
    sent.once('response', (response) => {
      cancel();
      relay(response, answer).then(() => {
        done();
        socket.destroy();
        resolve(undefined);
      }, fail);
    });
    sent.end();
  });
}

/** A POST without a body must say so; a GET need not (RFC 9110 8.6). */
const lengthOf = ({ method }: PassedCall): string[] => (method === 'POST' ? ['Content-Length', '0'] : []);

async function relay(response: IncomingMessage, answer: PassedAnswer): Promise<void> {
  answer.start(response.statusCode ?? 0, response.rawHeaders);
  for await (const chunk of response) await answer.data(chunk as Buffer);
}
