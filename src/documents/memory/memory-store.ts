import type { Steps, TimeSlices } from '../../runtime/time-slices.ts';
import { StoreError } from '../../stores/store-error.ts';
import type { DocumentKind } from '../document-kind.ts';
import type { Page } from '../document-query.ts';
import { type Bucket, beginningOf, type Interval } from '../query/interval.ts';
import type {
  DocumentSearch,
  DocumentStore,
  Found,
  FoundMessage,
  Histogram,
  Statistics,
} from '../store/document-store.ts';
import { isFound, type KeptDocument } from './kept-document.ts';

/** A document in memory. */
export interface MemoryDocument extends KeptDocument {
  /** The whole document. */
  read(): object;
}

export interface MemoryStoreParts {
  readonly kind: DocumentKind;
  /** Cuts long searches, so that other requests go on. */
  readonly slices: Pick<TimeSlices, 'run'>;
  /** All documents, in any order. Rejects with a `StatusError` while they are not in memory. */
  documents(): Promise<Iterable<MemoryDocument>>;
}

/** So many documents are looked at in a step: a millisecond at most, where their fields must be read first. */
const DOCUMENTS_A_STEP = 64;

/** A store of the documents that this process has in memory, such as the events that the cluster still has (E-05). */
export class MemoryStore implements DocumentStore {
  readonly #parts: MemoryStoreParts;

  constructor(parts: MemoryStoreParts) {
    this.#parts = parts;
  }

  async find(search: DocumentSearch, { order, from, size }: Page): Promise<Found> {
    const { kind } = this.#parts;
    const found = (await this.#found(search)).sort((a, b) => (order === 'asc' ? a.at - b.at : b.at - a.at));
    const page = found.slice(from, from + size);
    return {
      total: found.length,
      records: page.map((one) => ({ at: one.at, record: kind.toRecord(one.read() as Record<string, unknown>) })),
    };
  }

  async count(search: DocumentSearch): Promise<Statistics> {
    const found = await this.#found(search);
    return { counted: new Set(found.map(({ id }) => id).filter((id) => id !== '')).size, total: found.length };
  }

  async histogram(search: DocumentSearch, interval: Interval): Promise<Histogram> {
    const found = await this.#found(search);
    const buckets: Bucket[] = found.map(({ at }) => ({ time: beginningOf(at, interval), count: 1 }));
    return { total: found.length, buckets };
  }

  // biome-ignore lint/correctness/useYield: only logs are exported, and they are never in memory
  async *messages(): AsyncGenerator<readonly FoundMessage[], void> {
    throw new StoreError('unsupported', 'only logs can be exported');
  }

  async #found(search: DocumentSearch): Promise<MemoryDocument[]> {
    const { kind, slices, documents } = this.#parts;
    return slices.run(foundIn(await documents(), { kind, search }));
  }
}

function* foundIn(
  documents: Iterable<MemoryDocument>,
  asked: { readonly kind: DocumentKind; readonly search: DocumentSearch },
): Steps<MemoryDocument[]> {
  const found: MemoryDocument[] = [];
  let looked = 0;
  for (const document of documents) {
    if (looked++ % DOCUMENTS_A_STEP === 0) yield;
    if (isFound(document, asked)) found.push(document);
  }
  return found;
}
