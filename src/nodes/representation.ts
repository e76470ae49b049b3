import type { ContentCoding, Representation } from './node-lister.ts';

interface Body {
  readonly pieces: readonly Uint8Array[];
  readonly length: number;
}

/** Composes the pieces of a body; called at most once a coding. */
export interface Composer extends Readonly<Record<ContentCoding, () => readonly Uint8Array[]>> {
  /** Bytes of the identity body, known without composing it. */
  readonly identityLength: () => number;
}

/** One answer at one version of the cache. A body is composed when it is first asked for, so that a 304 costs none. */
export class VersionedRepresentation implements Representation {
  readonly #tag: string;
  readonly #compose: Composer;
  readonly #bodies: { [coding in ContentCoding]?: Body } = {};

  /** `tag`: what the ETag reads between its quotes, the coding apart. */
  constructor(tag: string, compose: Composer) {
    this.#tag = tag;
    this.#compose = compose;
  }

  etag(coding: ContentCoding): string {
    return coding === 'gzip' ? `"${this.#tag}-gzip"` : `"${this.#tag}"`;
  }

  body(coding: ContentCoding): readonly Uint8Array[] {
    return this.#bodyOf(coding).pieces;
  }

  length(coding: ContentCoding): number {
    return coding === 'identity' ? this.#compose.identityLength() : this.#bodyOf(coding).length;
  }

  #bodyOf(coding: ContentCoding): Body {
    const body = this.#bodies[coding] ?? toBody(this.#compose[coding]());
    this.#bodies[coding] = body;
    return body;
  }
}

const toBody = (pieces: readonly Uint8Array[]): Body => ({
  pieces,
  length: pieces.reduce((sum, piece) => sum + piece.length, 0),
});
