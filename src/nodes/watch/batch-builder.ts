import { metadataObject } from './metadata-object.ts';
import { eventPieces, nodeObject, type ObjectPieces, tombstone } from './watch-event.ts';
import type { NodeNews, WatchView } from './watch-view.ts';

/** As much as a socket takes without holding its writer back (`highWaterMark`): a slow reader costs one of these. */
const BATCH_BYTES = 64 * 1024;
/** A removal, about. */
const REMOVAL_BYTES = 256;

/** The version of one event, and whether a client can go on from it. */
export interface EventVersion {
  readonly text: string;
  readonly isResumable: boolean;
}

/** Whole events, one behind the other. */
export class BatchBuilder {
  readonly #view: WatchView;
  readonly #platform: string;
  readonly #news: NodeNews[] = [];
  #length = 0;

  constructor(view: WatchView, platform: string) {
    this.#view = view;
    this.#platform = platform;
  }

  get isFull(): boolean {
    return this.#length >= BATCH_BYTES;
  }

  add(news: NodeNews): void {
    this.#news.push(news);
    this.#length += this.#lengthOf(news);
  }

  #lengthOf(news: NodeNews): number {
    if (news.type === 'DELETED') return REMOVAL_BYTES;
    const { encoded } = news.entry;
    return this.#view.metadataOnly ? encoded.metadata().length : encoded.length;
  }

  /** `versionOf` names each; the last is the one after which its reader is further than before. */
  bytes(versionOf: (news: NodeNews, isLast: boolean) => EventVersion): Uint8Array {
    const { form } = this.#view;
    const last = this.#news.length - 1;
    return Buffer.concat(
      this.#news.flatMap((news, at) => {
        const { text, isResumable } = versionOf(news, at === last);
        return eventPieces(news.type, this.#objectOf(news, text), { form, id: isResumable ? text : undefined });
      }),
    );
  }

  #objectOf(news: NodeNews, resourceVersion: string): ObjectPieces {
    const { name } = news.change;
    if (news.type === 'DELETED') return tombstone({ name, uid: news.uid, resourceVersion }, this.#view);
    if (!this.#view.metadataOnly) return nodeObject(news.entry, resourceVersion);
    return [metadataObject(news.entry, { platform: this.#platform, resourceVersion })];
  }
}
