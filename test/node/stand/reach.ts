/**
 * A program for the network namespace of a pod: `node reach.ts ADDRESS tcp:80 udp:53 …` sends something to each of these ports, and prints
 * as JSON which of them `answered`, was `refused` or stayed `silent`.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';

/** For what is dropped. What is rejected or answered takes a millisecond, but this machine may be busy. */
const SILENCE_MS = 10_000;

const [address = '', ...doors] = process.argv.slice(2);

async function connects(port: number): Promise<void> {
  await once(connect(port, address), 'connect');
}

async function echoes(port: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.connect(port, address);
  await once(socket, 'connect');
  socket.send('hello');
  await once(socket, 'message');
}

async function outcomeOf(door: string): Promise<string> {
  const [protocol, port] = door.split(':');
  const silence = new Promise<string>((resolve) => setTimeout(resolve, SILENCE_MS, 'silent'));
  const reached = protocol === 'udp' ? echoes(Number(port)) : connects(Number(port));
  const outcome = reached.then(
    () => 'answered',
    (error: NodeJS.ErrnoException) => (error.code === 'ECONNREFUSED' ? 'refused' : String(error.code)),
  );
  return Promise.race([outcome, silence]);
}

const outcomes = await Promise.all(doors.map(async (door) => [door, await outcomeOf(door)] as const));
process.stdout.write(JSON.stringify(Object.fromEntries(outcomes)), () => process.exit(0));
