import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { Connection, requestBytes, type Target } from './connection.ts';

/** When each change reached two watchers: one directly at the API server, and one through a gateway. */
export interface EventTimes {
  /** How many milliseconds later each change came through the gateway; below 0 if it came there first. */
  readonly laterMs: readonly number[];
}

const HOST = '127.0.0.1';
const BEGIN_TIMEOUT_MS = 30_000;
const OPENERS = 50;

/** Opens a watch of the Kubernetes API. Calls `came` with each piece of its body. */
function openWatch(target: Target, path: string, came: (text: string) => void): Promise<Socket> {
  const ask = requestBytes(target, { path: `${path}${path.includes('?') ? '&' : '?'}watch=1&resourceVersion=0` });
  return new Promise((resolve, reject) => {
    const begin = (): void => void socket.write(ask);
    const socket = target.ca
      ? connectTls({ host: HOST, port: target.port, ca: target.ca }, begin)
      : connect({ host: HOST, port: target.port }, begin);
    let isOpen = false;
    socket.setNoDelay(true);
    socket.setTimeout(BEGIN_TIMEOUT_MS, () => socket.destroy(new Error('the watch does not begin')));
    socket.on('error', reject);
    socket.on('data', (piece: Buffer) => {
      const text = piece.toString('latin1');
      if (!isOpen && !text.startsWith('HTTP/1.1 200')) return reject(new Error(text.slice(0, 300)));
      if (!isOpen) socket.setTimeout(0);
      isOpen = true;
      resolve(socket);
      came(text);
    });
  });
}

/** Opens this many watches, to which no event comes. */
export async function openIdleWatches(target: Target, path: string, number: number): Promise<() => void> {
  const sockets: Socket[] = [];
  const left = { number };
  const opener = async (): Promise<void> => {
    while (left.number-- > 0) sockets.push(await openWatch(target, path, () => {}));
  };
  await Promise.all(Array.from({ length: OPENERS }, opener));
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

interface EventPlan {
  readonly straight: Target;
  readonly through: Target;
  /** The paths of a ConfigMap and of its collection. */
  readonly object: string;
  readonly collection: string;
  readonly events: number;
}

const PAUSE_MS = 20;

/** Changes an object again and again, and records when each change reaches each of the two watchers. */
export async function timeEvents({ straight, through, object, collection, events }: EventPlan): Promise<EventTimes> {
  const seen = { straight: new Map<number, number>(), through: new Map<number, number>() };
  const note = (on: Map<number, number>) => (text: string) => {
    const at = performance.now();
    for (const [, mark] of text.matchAll(/"mark":"(\d+)"/g)) if (!on.has(Number(mark))) on.set(Number(mark), at);
  };
  const sockets = [
    await openWatch(straight, collection, note(seen.straight)),
    await openWatch(through, collection, note(seen.through)),
  ];
  const writer = await Connection.open(straight);
  for (let mark = 1; mark <= events; mark++) {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const body = `{"metadata":{"labels":{"mark":"${mark}"}}}`;
    const { status } = await writer.exchange(requestBytes(straight, { method: 'PATCH', path: object, headers, body }));
    if (status !== 200) throw new Error(`the change was answered ${status}`);
    await sleep(PAUSE_MS);
  }
  await sleep(500);
  writer.close();
  for (const socket of sockets) socket.destroy();
  const laterMs = [...seen.through].map(([mark, at]) => at - (seen.straight.get(mark) ?? Number.NaN));
  if (laterMs.length !== events || laterMs.some(Number.isNaN))
    throw new Error(`${laterMs.length} of ${events} changes came`);
  return { laterMs };
}
