import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { CompactCoding } from '../answer/accept.ts';
import { chooseCompactCoding } from '../answer/accept.ts';
import { type AnswerHeaders, type AnswerWriter, NO_BODY, wholeBody } from '../answer/answer.ts';
import { namesTag } from '../answer/send-representation.ts';
import type { Exchange } from '../exchange.ts';
import { PAGE_HEADERS } from './page-headers.ts';

/** A file of the page as it is served. */
interface ServedFile {
  readonly contentType: string;
  readonly cacheControl: string;
  /** Whether compressing makes it shorter. */
  readonly isCompressible: boolean;
  /** Strong, quotes included, one per coding (RFC 9110 8.8.3). */
  etag(coding: CompactCoding): string;
  bytes(coding: CompactCoding): Promise<Uint8Array>;
}

interface FileType {
  readonly type: string;
  readonly isText?: true;
}

/** Content types by extension. Fonts and images are compressed in themselves, but for SVG. */
const TYPES: Readonly<Record<string, FileType>> = {
  html: { type: 'text/html; charset=utf-8', isText: true },
  js: { type: 'text/javascript; charset=utf-8', isText: true },
  css: { type: 'text/css; charset=utf-8', isText: true },
  svg: { type: 'image/svg+xml', isText: true },
  json: { type: 'application/json', isText: true },
  webmanifest: { type: 'application/manifest+json', isText: true },
  png: { type: 'image/png' },
  ico: { type: 'image/x-icon' },
  woff2: { type: 'font/woff2' },
};
const UNKNOWN: FileType = { type: 'application/octet-stream' };

/** Smaller files are not compressed, because the headers are longer than what that would save. */
const LEAST_COMPRESSED_BYTES = 1_024;

const compressors: Readonly<Record<Exclude<CompactCoding, 'identity'>, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  gzip: (bytes) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
      },
    }),
};

/**
 * A file of the page. Each compressed form is made once, at the first request for it and beside the event loop: a start that compressed
 * all files would take a second longer.
 */
export function toServedFile(name: string, content: Uint8Array, cacheControl: string): ServedFile {
  const { type, isText = false } = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? UNKNOWN;
  const tag = createHash('sha256').update(content).digest('base64url').slice(0, 16);
  const made = new Map<CompactCoding, Promise<Uint8Array>>([['identity', Promise.resolve(content)]]);
  return {
    contentType: type,
    cacheControl,
    isCompressible: isText && content.byteLength >= LEAST_COMPRESSED_BYTES,
    etag: (coding) => (coding === 'identity' ? `"${tag}"` : `"${tag}-${coding}"`),
    bytes: (coding) => {
      const known = made.get(coding);
      if (known || coding === 'identity') return known ?? Promise.resolve(content);
      const compressed = compressors[coding](content);
      made.set(coding, compressed);
      return compressed;
    },
  };
}

/** Sends the file in the coding that the caller prefers, or 304 if the caller already has it. */
export async function sendFile(writer: AnswerWriter, exchange: Exchange, file: ServedFile): Promise<void> {
  const { 'accept-encoding': accepted, 'if-none-match': known } = exchange.request.headers;
  const coding = file.isCompressible ? chooseCompactCoding(accepted as string | undefined) : 'identity';
  const etag = file.etag(coding);
  const validators: AnswerHeaders = {
    ...PAGE_HEADERS,
    ETag: etag,
    'Cache-Control': file.cacheControl,
    Vary: 'Accept-Encoding',
  };
  if (known !== undefined && namesTag(known, etag)) return writer.send(exchange, 304, validators, NO_BODY);
  const bytes = await file.bytes(coding);
  exchange.coding = coding;
  const encoded = coding === 'identity' ? {} : { 'Content-Encoding': coding };
  writer.send(exchange, 200, { ...validators, 'Content-Type': file.contentType, ...encoded }, wholeBody(bytes));
}
