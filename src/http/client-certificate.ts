import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Whether the client at the other end has proven a certificate that `clientCAFile` vouches for. Not `authorized` alone:
 * Node says that of a resumed TLS 1.3 session without any certificate, too.
 */
export const hasClientCertificate = (socket: Socket): boolean =>
  socket instanceof TLSSocket && socket.authorized && socket.getPeerX509Certificate() !== undefined;
