import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Representation } from '../../resources/bytes/representation.ts';
import { wholeBody } from './answer.ts';

/** The representation of a document that changes rarely: compressed on first use, with an ETag of its content unless one is given. */
export function toRepresentation(body: Uint8Array, etag = contentTag(body)): Representation {
  let compressed: Buffer | undefined;
  const bytes = (coding: 'identity' | 'gzip'): Uint8Array => {
    if (coding === 'identity') return body;
    compressed ??= gzipSync(body);
    return compressed;
  };
  return {
    etag: (coding) => (coding === 'gzip' ? etag.replace(/"$/, '-gzip"') : etag),
    compose: () => undefined,
    body: (coding) => wholeBody(bytes(coding)),
    identityLength: body.byteLength,
  };
}

/** 96 bits of SHA-256, so that two versions of a document do not get the same tag by chance. */
const contentTag = (body: Uint8Array): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`;

export const toJsonBytes = (document: unknown): Buffer => Buffer.from(JSON.stringify(document));
