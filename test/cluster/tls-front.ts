import { connect } from 'node:net';
import { createServer, type Server } from 'node:tls';

/** TLS in front of this port: kube-apiserver calls webhooks and issuers over https only. */
export const endTls = ({ cert, key, port }: { cert: string; key: string; port: number }): Server =>
  createServer({ cert, key }, (socket) => {
    const behind = connect(port, '127.0.0.1');
    socket.pipe(behind).pipe(socket);
    socket.on('error', () => behind.destroy()).on('close', () => behind.destroy());
    behind.on('error', () => socket.destroy());
  });
