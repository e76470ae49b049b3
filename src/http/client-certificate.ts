import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Whether the client at the other end has proven a certificate that `clientCAFile` vouches for. `authorized` alone would
 * rest on how the TLS library reports that a resumed session never had one.
 */
export const hasClientCertificate = (socket: Socket): boolean =>
  socket instanceof TLSSocket && socket.authorized && socket.getPeerX509Certificate() !== undefined;
