import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/** A block of PEM (RFC 7468); text between the blocks is ignored. The body is base64, rarely with headers before it. */
const BLOCK = /^-----BEGIN ([^\r\n]+)-----[ \t]*\r?\n([\s\S]*?)^-----END \1-----/gm;

interface Block {
  readonly kind: string;
  /** The whole block, with its BEGIN and END lines. */
  readonly text: string;
  readonly der: Buffer | undefined;
}

function blocks(pem: string): readonly Block[] {
  return Array.from(pem.matchAll(BLOCK), ([text, kind = '', body = '']) => {
    const base64 = body.replace(/\s/g, '');
    const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(base64) && base64.length % 4 === 0;
    return { kind, text: `${text}\n`, der: isBase64 ? Buffer.from(base64, 'base64') : undefined };
  });
}

const certificates = (pem: string): readonly string[] =>
  blocks(pem).flatMap(({ kind, der }) => (kind === 'CERTIFICATE' && der && isCertificate(der) ? [toPem(der)] : []));

function isCertificate(der: Buffer): boolean {
  try {
    new X509Certificate(der);
    return true;
  } catch {
    return false;
  }
}

const toPem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;

/**
 * The certificates of a CA bundle. Throws an `Error` if there is none, because TLS would then silently trust the public authorities
 * instead.
 */
export function authorities(pem: string): string {
  const found = certificates(pem);
  if (found.length === 0) throw new Error('the certificate authority holds no certificate that can be read');
  return found.join('');
}

/** A client certificate with its chain, and its key. */
export interface ClientPair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Checks a client certificate and its key. Throws an `Error` if one of them cannot be read, or if they do not belong together: the
 * connection would have no client certificate, and we would be anonymous to the API server.
 */
export function clientPair(certificate: string, privateKey: string): ClientPair {
  const chain = certificates(certificate);
  const [own] = chain;
  if (own === undefined) throw new Error('the client certificate holds no certificate that can be read');
  const block = blocks(privateKey).find(({ kind }) => kind === 'PRIVATE KEY' || kind.endsWith(' PRIVATE KEY'));
  const key = block && readKey(block.text);
  if (!block || !key) throw new Error('the client key holds no private key that can be read');
  if (!new X509Certificate(own).checkPrivateKey(key))
    throw new Error('the client key is not the key of the client certificate');
  return { cert: chain.join(''), key: block.text };
}

/** Parses a private key. The library's messages are dropped, because they may quote the content. */
function readKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
