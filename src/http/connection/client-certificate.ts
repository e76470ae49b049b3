import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * The names in the certificate that the client at the other end has proven and `clientCAFile` vouches for: its common name,
 * its DNS names and URIs. None without such a certificate. `authorized` alone would rest on how the TLS library reports that
 * a resumed session never had one.
 */
export function clientCertificateNames(socket: Socket): readonly string[] {
  const certificate = socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (!certificate) return [];
  const { CN } = certificate.toLegacyObject().subject as { readonly CN?: string | readonly string[] };
  // Of several common names nobody can say which one is meant.
  return [...(typeof CN === 'string' ? [CN] : []), ...alternativeNames(certificate.subjectAltName)];
}

const KINDS = ['DNS:', 'URI:'];

/**
 * Out of `DNS:a.example, URI:"odd \u002c one", IP Address:192.0.2.1`. Node writes a value with a comma, a quote or what is no
 * visible ASCII in quotes, its commas escaped: so each part is one name, and what is in quotes is none that anybody listed.
 */
function alternativeNames(text = ''): string[] {
  return text
    .split(', ')
    .filter((part) => KINDS.some((kind) => part.startsWith(kind)))
    .map((part) => part.slice(4))
    .filter((name) => !name.startsWith('"'));
}

/** Whether the client at the other end has shown a certificate at all, whoever vouches for it. */
export const hasShownCertificate = (socket: Socket): boolean =>
  socket instanceof TLSSocket && socket.getPeerX509Certificate() !== undefined;
