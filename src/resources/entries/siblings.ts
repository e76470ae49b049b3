import { BoundedMap } from '../../runtime/bounded-map.ts';
import { sameOwners, sharedTexts } from './change.ts';
import type { Entry } from './entry.ts';

/** Owners that are remembered, at about 200 bytes each. */
const MOST_OWNERS = 8_192;

/** Namespaces whose names are remembered, at about 100 bytes each. */
const MOST_NAMESPACES = 16_384;

/**
 * Lets objects of one owner share their labels, annotations and owners where these are equal, as most pods of a ReplicaSet do. That
 * takes 250 bytes off a pod with five labels, and a filter on labels reads fewer places in memory: it takes half the time. Objects
 * without an owner keep their own. Objects of one namespace share its name, so a set of namespaces finds it by its address.
 */
export class Siblings {
  /** By the uid of the owner: an object that came last. Held weakly, so that no text outlives its object. */
  readonly #last = new BoundedMap<WeakRef<Entry>>(MOST_OWNERS);

  readonly #namespaces = new BoundedMap<string>(MOST_NAMESPACES);

  sharing(object: Entry): Entry {
    const entry = this.#inSharedNamespace(object);
    const owner = entry.owners[0]?.uid;
    if (typeof owner !== 'string') return entry;
    const last = this.#last.get(owner)?.deref();
    const shared = last ? sharingWith(last, entry) : entry;
    const hasAll = shared.labels === last?.labels && shared.annotations === last?.annotations;
    if (!hasAll) this.#last.set(owner, new WeakRef(shared));
    return shared;
  }

  #inSharedNamespace(entry: Entry): Entry {
    if (entry.namespace === '') return entry;
    const known = this.#namespaces.get(entry.namespace);
    if (known !== undefined) return { ...entry, namespace: known };
    this.#namespaces.set(entry.namespace, entry.namespace);
    return entry;
  }
}

const sharingWith = (last: Entry, entry: Entry): Entry => ({
  ...entry,
  labels: oneOf(last.labels, entry.labels),
  annotations: oneOf(last.annotations, entry.annotations),
  owners: sameOwners(last.owners, entry.owners) ? last.owners : entry.owners,
});

/** `next`, or `last` if the two are equal. */
const oneOf = (last: Entry['labels'], next: Entry['labels']): Entry['labels'] =>
  sharedTexts(last, next) === last ? last : next;
