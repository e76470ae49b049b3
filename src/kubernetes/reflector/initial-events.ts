import { KeyTable } from './key-table.ts';
import type { WatchEvent } from './lister-watcher.ts';
import type { StoredEntry } from './store.ts';

/** The annotation that ends the initial state in a WatchList stream ("Streaming lists", KEP-3157). */
const END = 'k8s.io/initial-events-end';

export function endsInitialEvents(event: WatchEvent): boolean {
  if (event.type !== 'BOOKMARK') return false;
  const { metadata } = event.object as { metadata?: { annotations?: Record<string, unknown> } };
  return metadata?.annotations?.[END] === 'true';
}

/**
 * The state that a WatchList stream sends, reduced to entries on arrival. Changes may already be mixed in before the
 * end.
 */
export class InitialEvents<E extends StoredEntry> {
  readonly #entries = new KeyTable<E>();
  readonly #toEntry: (value: unknown) => E | undefined;

  constructor(toEntry: (value: unknown) => E | undefined) {
    this.#toEntry = toEntry;
  }

  add(event: WatchEvent): void {
    const entry = this.#toEntry(event.object);
    if (!entry) return;
    if (event.type === 'DELETED') this.#entries.delete(entry.key);
    else this.#entries.set(entry);
  }

  entries(): E[] {
    return this.#entries.values();
  }
}
