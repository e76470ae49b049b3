import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/** PEM (RFC 7468): what stands between the blocks is not read. The body is base64, after headers that few have. */
const BLOCK = /^-----BEGIN ([^\r\n]+)-----[ \t]*\r?\n([\s\S]*?)^-----END \1-----/gm;

interface Block {
  readonly kind: string;
  /** The block alone, with its lines. */
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
  blocks(pem)
    .filter(({ kind, der }) => kind === 'CERTIFICATE' && der !== undefined && isCertificate(der))
    .map(({ der = Buffer.alloc(0) }) => toPem(der));

function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der) !== undefined;
  } catch {
    return false;
  }
}

const toPem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;

/**
 * The certificates of a bundle of authorities. Throws an `Error` when there is none: TLS would trust the public
 * authorities instead, without a word.
 */
export function authorities(pem: string): string {
  const found = certificates(pem);
  if (found.length === 0) throw new Error('the certificate authority holds no certificate that can be read');
  return found.join('');
}

/** A client certificate with its key, and the certificates that vouch for it. */
export interface ClientPair {
  readonly cert: string;
  readonly key: string;
}

/**
 * Checks a client certificate and its key. Throws an `Error` when one of them cannot be read, or when they are not a
 * pair: the connection would have no client certificate, and we would be nobody to the API server.
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

/** The library's messages are about the content, so they are not passed on. */
function readKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
