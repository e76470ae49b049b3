import type { ReflectedStore, Replacement, StoredEntry } from '../../src/kubernetes/reflector/store.ts';
import { atOnce } from '../../src/runtime/time-slices.ts';

/** Replaces the whole content in one turn of the event loop, as the reflector does with a short list. */
export function replaceAll<E extends StoredEntry>(
  store: Pick<ReflectedStore<E>, 'prepare'>,
  entries: readonly E[],
  replacement: Partial<Replacement> = {},
): void {
  atOnce(store.prepare(entries, { sameHistory: false, resourceVersion: '9', ...replacement }))();
}
