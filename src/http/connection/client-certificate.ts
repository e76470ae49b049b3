import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * The common name, DNS names and URIs of the client certificate. It must be signed by an authority of `clientCAFile`, and the client
 * must have proven that it has the key; otherwise the list is empty. `authorized` alone is not enough: for a resumed session that
 * never had a certificate, its value depends on how the TLS library reports that.
 */
export function clientCertificateNames(socket: Socket): readonly string[] {
  const certificate = socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (!certificate) return [];
  const { CN } = certificate.toLegacyObject().subject as { readonly CN?: string | readonly string[] };
  // With several common names it is unclear which one is meant, so none counts.
  return [...(typeof CN === 'string' ? [CN] : []), ...alternativeNames(certificate.subjectAltName)];
}

const KINDS = ['DNS:', 'URI:'];

/**
 * Parses `DNS:a.example, URI:"odd \u002c one", IP Address:192.0.2.1`. Node quotes a value that has a comma, a quote or anything
 * but visible ASCII, and escapes its commas. So each part is one name, and a quoted one cannot be a name of the configuration.
 */
function alternativeNames(text = ''): string[] {
  return text
    .split(', ')
    .filter((part) => KINDS.some((kind) => part.startsWith(kind)))
    .map((part) => part.slice(4))
    .filter((name) => !name.startsWith('"'));
}

/** Whether the client has sent a certificate, trusted or not. */
export const hasShownCertificate = (socket: Socket): boolean =>
  socket instanceof TLSSocket && socket.getPeerX509Certificate() !== undefined;
