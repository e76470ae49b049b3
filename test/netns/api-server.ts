/**
 * A program for the far network namespace: a simulated API server, which listens on loopback there, and before it a relay
 * on the address that is reachable. Its parent sends commands and gets one answer each.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import type { Command, Facts } from './protocol.ts';

const address = process.argv[2] as string;
const cluster = await startSimulatedCluster({ bookmarkIntervalMs: 0 });
const sockets = new Set<Socket>();

const relay = createServer((client) => {
  const server = connect(Number(new URL(cluster.url).port), '127.0.0.1');
  client.on('error', () => {}).pipe(server);
  server.on('error', () => {}).pipe(client);
  sockets.add(client);
  client.once('close', () => {
    sockets.delete(client);
    server.destroy();
  });
});
await once(relay.listen(0, address), 'listening');
const url = `http://${address}:${(relay.address() as AddressInfo).port}`;

const clientPorts = (): number[] => [...sockets].map((socket) => socket.remotePort ?? 0);

function obey(command: Command): void {
  if (command.kind === 'create') cluster.objects.create('nodes', { metadata: { name: command.name } });
  if (command.kind === 'forget') for (const socket of sockets) socket.resetAndDestroy();
}

/** Lists that fetch objects: those of the self-check are at an exact version. */
const lists = (): number => {
  const { requests } = cluster.evidence;
  const checks = requests.filter(({ query }) => query.get('resourceVersionMatch') === 'Exact');
  return cluster.evidence.listStarts('nodes') - checks.length;
};

const facts = (): Facts => ({
  kubeconfig: cluster.kubeconfig().replace(cluster.url, url),
  clientPorts: clientPorts(),
  lists: lists(),
});

process.on('message', (command: Command) => {
  obey(command);
  process.send?.(facts());
});
process.once('disconnect', () => process.exit(0));
process.send?.(facts());
