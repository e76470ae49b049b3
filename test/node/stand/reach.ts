/**
 * A program for the network namespace of a pod: `node reach.ts tcp|udp ADDRESS PORT` sends something there, and prints `answered`, `refused`
 * or `silent`.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';

/** For what is dropped. What is rejected or answered takes a millisecond, but this machine may be busy. */
const SILENCE_MS = 10_000;

const [protocol, address = '', port] = process.argv.slice(2);

async function connects(): Promise<void> {
  await once(connect(Number(port), address), 'connect');
}

async function echoes(): Promise<void> {
  const socket = createSocket('udp4');
  socket.connect(Number(port), address);
  await once(socket, 'connect');
  socket.send('hello');
  await once(socket, 'message');
}

setTimeout(() => finish('silent'), SILENCE_MS);
const reached = protocol === 'udp' ? echoes() : connects();
await reached.then(
  () => finish('answered'),
  (error: NodeJS.ErrnoException) => finish(error.code === 'ECONNREFUSED' ? 'refused' : String(error.code)),
);

function finish(outcome: string): void {
  process.stdout.write(outcome, () => process.exit(0));
}
