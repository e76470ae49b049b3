import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../src/runtime/clock.ts';
import type { ServedKinds } from '../api/served-kinds.ts';
import type { Collection } from '../collection.ts';
import type { Change } from '../entry.ts';
import { type KubeObject, keyOf, type NewObject } from '../kube-object.ts';
import { timestamp } from '../timestamp.ts';
import { DEFINITIONS, definitionOf, kindsOf } from './definition.ts';

/** What extensions of the API need of the store. */
export interface ExtendedStore {
  collection(name: string): Collection;
  list(name: string): readonly KubeObject[];
  update(name: string, object: NewObject): KubeObject;
  remove(name: string, key: string): KubeObject;
}

interface DefinitionsParts {
  readonly store: ExtendedStore;
  readonly kinds: ServedKinds;
  readonly clock: Clock;
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** The finalizer that keeps a definition until its objects are removed. */
export const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

const conditionsOf = ({ status }: KubeObject): readonly Condition[] =>
  (status?.['conditions'] ?? []) as readonly Condition[];

const isEstablished = (object: KubeObject): boolean =>
  conditionsOf(object).some(({ type, status }) => type === 'Established' && status === 'True');

/**
 * What the controllers of a real server do with CustomResourceDefinitions, but at once: a new definition is established and its kinds are
 * served; a change ends the watches of its kinds; with a definition go its objects, and then its kinds.
 */
export class CustomDefinitions {
  readonly watched = DEFINITIONS;
  readonly #parts: DefinitionsParts;

  constructor(parts: DefinitionsParts) {
    this.#parts = parts;
  }

  /** For the store: a definition was written. */
  committed({ type, entry, previous }: Change): void {
    const { object } = entry;
    const isEnding = type === 'DELETED' || object.metadata['deletionTimestamp'] !== undefined;
    if (isEnding) this.#end(object, type === 'DELETED');
    else if (isEstablished(object)) this.#changed(object, previous?.object);
    else this.#parts.store.update(DEFINITIONS, this.#established(object));
  }

  /** Serves the kinds of the definitions that are stored now. */
  refresh(): void {
    const { store, kinds } = this.#parts;
    const served = store
      .list(DEFINITIONS)
      .filter((object) => isEstablished(object) && object.metadata['deletionTimestamp'] === undefined);
    kinds.replace('definitions', { kinds: served.flatMap(kindsOf), away: [] });
  }

  #changed(object: KubeObject, before: KubeObject | undefined): void {
    const { store } = this.#parts;
    const isNew = !before || !isEstablished(before);
    if (!isNew && isDeepStrictEqual(object.spec, before.spec)) return;
    this.refresh();
    if (isNew) return;
    store.collection(object.metadata.name).endWatches();
    const storedVersions = this.#storedVersions(object);
    if (!isDeepStrictEqual(storedVersions, object.status?.['storedVersions']))
      store.update(DEFINITIONS, { ...object, status: { ...object.status, storedVersions } });
  }

  #established(object: KubeObject): NewObject {
    const lastTransitionTime = timestamp(this.#parts.clock.now());
    const condition = (type: string, reason: string, message: string): object => ({
      type,
      status: 'True',
      lastTransitionTime,
      reason,
      message,
    });
    const conditions = [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ];
    const status = {
      conditions,
      acceptedNames: definitionOf(object).names,
      storedVersions: this.#storedVersions(object),
    };
    return { ...object, status };
  }

  /** The versions in which objects may be stored: those before, and now that which is the storage version. */
  #storedVersions(object: KubeObject): readonly string[] {
    const before = (object.status?.['storedVersions'] ?? []) as readonly string[];
    const now = definitionOf(object).versions.filter(({ storage }) => storage);
    return [...new Set([...before, ...now.map(({ name }) => name)])];
  }

  #end(object: KubeObject, isGone: boolean): void {
    const { store } = this.#parts;
    const { name } = object.metadata;
    if (this.#parts.kinds.stored.some((kind) => kind.name === name)) {
      for (const one of store.list(name)) store.remove(name, keyOf(one.metadata));
      this.refresh();
      store.collection(name).endWatches();
    }
    const finalizers = (object.metadata['finalizers'] ?? []) as readonly string[];
    if (isGone || !finalizers.includes(CLEANUP)) return;
    const left = finalizers.filter((one) => one !== CLEANUP);
    if (left.length === 0) store.remove(DEFINITIONS, name);
    else store.update(DEFINITIONS, { ...object, metadata: { ...object.metadata, finalizers: left } });
  }
}
