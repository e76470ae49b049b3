import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * The common name, DNS names and URIs of a client certificate that its client has proven and `clientCAFile` vouches
 * for. Empty without such a certificate. `authorized` alone would not do: for a resumed session that never had a
 * certificate, it rests on how the TLS library reports that.
 */
export function clientCertificateNames(socket: Socket): readonly string[] {
  const certificate = socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (!certificate) return [];
  const { CN } = certificate.toLegacyObject().subject as { readonly CN?: string | readonly string[] };
  // With several common names nobody can say which one is meant, so none counts.
  return [...(typeof CN === 'string' ? [CN] : []), ...alternativeNames(certificate.subjectAltName)];
}

const KINDS = ['DNS:', 'URI:'];

/**
 * Parses `DNS:a.example, URI:"odd \u002c one", IP Address:192.0.2.1`. Node puts a value in quotes, with its commas
 * escaped, when it has a comma, a quote or anything but visible ASCII. So each part is one name, and a quoted one
 * cannot be a name that anybody listed.
 */
function alternativeNames(text = ''): string[] {
  return text
    .split(', ')
    .filter((part) => KINDS.some((kind) => part.startsWith(kind)))
    .map((part) => part.slice(4))
    .filter((name) => !name.startsWith('"'));
}

/** Whether the client has shown a certificate, trusted or not. */
export const hasShownCertificate = (socket: Socket): boolean =>
  socket instanceof TLSSocket && socket.getPeerX509Certificate() !== undefined;
