/**
 * A program for the network namespace of a pod: `node echo.ts tcp:80 udp:53 …` listens on these ports and sends back what comes. It prints
 * `ready` when it listens on all of them, and ends when its standard input does.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

async function listen(protocol: string, port: number): Promise<void> {
  if (protocol === 'udp') {
    const socket = createSocket('udp4');
    socket.on('message', (bytes, from) => socket.send(bytes, from.port, from.address));
    socket.bind(port);
    await once(socket, 'listening');
  } else {
    const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
    await once(server.listen(port, '0.0.0.0'), 'listening');
  }
}

await Promise.all(
  process.argv.slice(2).map((door) => {
    const [protocol = '', port] = door.split(':');
    return listen(protocol, Number(port));
  }),
);
process.stdout.write('ready\n');
process.stdin.once('end', () => process.exit(0)).resume();
